package provenance_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/provenance"
)

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sample is a statement with every key.
func sample() (*provenance.Statement, *provenance.Instrumentation) {
	file := func(name string) provenance.Artifact {
		return provenance.Artifact{Name: name, Digest: provenance.SumOf([]byte(name))}
	}
	p := &provenance.Instrumentation{
		Options: map[string]string{"exits": "throws", "merge": "false"}, Rules: []string{"block a.<b>&c"},
		RuntimeClass: "a.B", Mapping: provenance.Mapping{Name: "out/mapping.txt", Digest: "0123456789abcdef"},
		Outputs: []provenance.Output{{Name: "out/a.jar", Inputs: []string{"a.jar"}},
			{Name: "out/classes/", Inputs: []string{"classes/"}}},
	}
	s := provenance.New(provenance.Instrument, p)
	s.Subject = []provenance.Artifact{file("out/a.jar"), file("out/classes/a/B.class"), file("out/mapping.txt")}
	s.Predicate.Build.Dependencies = []provenance.Artifact{file("a.jar"), file("classes/a/B.class")}
	s.Predicate.Run.Builder.Version["tracegen"] = "1.2.3"
	s.Predicate.Run.Builder.Dependencies = []provenance.Artifact{file("tracegen")}
	s.Predicate.Run.Byproducts = []provenance.Artifact{file("report.json")}
	return s, p
}

func encode(t testing.TB, s *provenance.Statement) []byte {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sign(t testing.TB, text []byte, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	e, err := provenance.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return e.Encode()
}

// accept reads an envelope as attest check does.
func accept(data []byte, public *ecdsa.PublicKey) (*provenance.Statement, error) {
	e, err := provenance.ParseEnvelope(data)
	if err != nil {
		return nil, err
	}
	text, err := e.Verify(public)
	if err != nil {
		return nil, err
	}
	return provenance.ParseStatement(text, provenance.Instrument, &provenance.Instrumentation{})
}

// TestPAE compares with the vector in the specification of DSSE, and with the signature there, which has other bytes
// than the ones tracegen writes: r and s one after the other.
func TestPAE(t *testing.T) {
	const kind, want = "http://example.com/HelloWorld", "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := provenance.PAE(kind, []byte("hello world")); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Lengths count bytes, and nothing is between the parts but a blank.
	if got := provenance.PAE("ä", nil); string(got) != "DSSEv1 2 ä 0 " {
		t.Errorf("%q", got)
	}
}

// TestRoundTrip reads what was written, and writes it again.
func TestRoundTrip(t *testing.T) {
	s, _ := sample()
	key := newKey(t)
	text := encode(t, s)
	data := sign(t, text, key)
	got, err := accept(data, &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	if again := encode(t, got); !bytes.Equal(again, text) {
		t.Errorf("%s\nwant %s", again, text)
	}
	if again := sign(t, text, key); !bytes.Equal(again, data) {
		t.Error("the same key signs the same statement in two ways")
	}
	// Other programs may order the keys otherwise, and add blanks.
	var e map[string]any
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(e, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accept(indented, &key.PublicKey); err != nil {
		t.Error(err)
	}
}

// TestNoByteCanBeChanged changes each byte of an envelope in two ways.
//
// Invariant: A signed statement of which any byte was changed is refused.
func TestNoByteCanBeChanged(t *testing.T) {
	s, _ := sample()
	key := newKey(t)
	data := sign(t, encode(t, s), key)
	for i := range data {
		for _, mask := range []byte{1, 0x80} {
			changed := bytes.Clone(data)
			changed[i] ^= mask
			if _, err := accept(changed, &key.PublicKey); err == nil {
				t.Errorf("byte %d, %q as %q: accepted", i, data[i], changed[i])
			}
		}
	}
	for i := range len(data) - 1 { // the last byte is a line end
		if _, err := accept(data[:i], &key.PublicKey); err == nil {
			t.Errorf("accepted with %d of %d bytes", i, len(data))
		}
	}
}

// TestEnvelopesAreRefused changes an envelope as no accident does.
func TestEnvelopesAreRefused(t *testing.T) {
	s, _ := sample()
	key, other := newKey(t), newKey(t)
	text := encode(t, s)
	data := string(sign(t, text, key))
	payload := base64.StdEncoding.EncodeToString(text)
	e, err := provenance.ParseEnvelope([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	otherID, err := provenance.KeyID(&other.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	signatureStart := strings.Index(data, `{"keyid"`)
	signature := data[signatureStart:strings.LastIndex(data, "]")]
	swap := func(old, new string) string {
		if !strings.Contains(data, old) {
			t.Fatalf("no %s in %s", old, data)
		}
		return strings.Replace(data, old, new, 1)
	}
	for name, test := range map[string]struct{ data, want string }{
		"other key":           {string(sign(t, text, other)), otherID},
		"other keyid":         {swap(e.KeyID(), otherID), otherID},
		"keyid of another":    {swap(e.KeyID(), "abc"), "not the SHA-256 of a public key"},
		"no keyid":            {swap(`"keyid":"`+e.KeyID()+`",`, ""), `"keyid" is missing`},
		"duplicate signature": {swap(signature, signature+","+signature), "2 signatures"},
		"no signature":        {swap(signature, ""), "0 signatures"},
		"null signature":      {swap(signature, "null"), "not a JSON object"},
		"signature twice":     {swap(`"sig"`, `"sig":"AA==","sig"`), `"sig" is there twice`},
		"payloadType":         {swap(provenance.PayloadType, "application/json"), `payloadType "application/json"`},
		"payloadType twice":   {swap(`{"payloadType"`, `{"payloadType":"x","payloadType"`), "twice"},
		"letter case":         {swap(`{"payloadType"`, `{"PayloadType":"x","payloadType"`), `"PayloadType" is unknown`},
		"payload twice":       {swap(`"payload":`, `"payload":"AA==","payload":`), `"payload" is there twice`},
		"other payload":       {swap(payload, base64.StdEncoding.EncodeToString([]byte("{}"))), "signature is not one"},
		"base64 of URLs":      {swap(payload, "_-8="), "not base64"},
		"base64 in lines":     {swap(payload, payload[:8]+`\n`+payload[8:]), "not base64"},
		"base64 bits":         {swap(payload, "QUJDRB=="), "not base64"},
		"payload no string":   {swap(`"`+payload+`"`, "null"), "not a string"},
		"unknown key":         {swap(`{"payloadType"`, `{"a":1,"payloadType"`), `"a" is unknown`},
		"behind it":           {data + "{}", "follows"},
		"a list":              {"[" + data + "]", "not a JSON object"},
		"empty":               {"", "not a DSSE envelope"},
		"deep":                {strings.Repeat(`{"payload":`, 100_000), "not a DSSE envelope"},
	} {
		if _, err := accept([]byte(test.data), &key.PublicKey); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := e.Verify(&other.PublicKey); !errors.As(err, new(*provenance.KeyError)) {
		t.Error(err)
	}
}

// TestStatementsAreRefused signs statements that are not as tracegen writes them: a valid signature does not make them
// acceptable.
func TestStatementsAreRefused(t *testing.T) {
	s, _ := sample()
	key := newKey(t)
	text := string(encode(t, s))
	for name, test := range map[string]struct{ old, new, want string }{
		"_type":           {"Statement/v1", "Statement/v0.1", "_type"},
		"predicateType":   {"provenance/v1", "provenance/v0.2", "predicateType"},
		"buildType":       {"#instrument-v1", "#release-v1", "build of type"},
		"builder":         {`"id":"https://github.com/tracegen/tracegen"`, `"id":"x"`, "builder"},
		"unknown key":     {`{"_type"`, `{"a":1,"_type"`, "does not read"},
		"key twice":       {`{"_type"`, `{"_type":"x","_type"`, "does not read"},
		"letter case":     {`"mapping":{"name"`, `"mapping":{"Name":"x","name"`, "does not read"},
		"blank":           {`{"_type":`, `{"_type": `, "at byte 9"},
		"behind it":       {`"byproducts"`, `"byproducts":[],"byproducts"`, "does not read"},
		"out of it":       {`"name":"a.jar"`, `"name":"../a.jar"`, "not a path"},
		"absolute":        {`"name":"a.jar"`, `"name":"/a.jar"`, "not a path"},
		"backslash":       {`"name":"a.jar"`, `"name":"b\\a.jar"`, "not a path"},
		"digest":          {provenance.SumOf([]byte("a.jar")).SHA256, "abc", "which is none"},
		"name twice":      {`"name":"out/classes/a/B.class"`, `"name":"out/a.jar"`, "twice"},
		"another subject": {`{"name":"out/classes/a/B.class"`, `{"name":"x"`, "neither an output nor the mapping"},
		"another input":   {`{"name":"classes/a/B.class"`, `{"name":"x"`, "is no input"},
		"no input":        {`"inputs":["a.jar"]`, `"inputs":["b.jar"]`, "not in resolvedDependencies"},
		"no output":       {`{"name":"out/a.jar","inputs"`, `{"name":"b.jar","inputs"`, "no subject"},
		"no mapping":      {`"mapping":{"name":"out/mapping.txt"`, `"mapping":{"name":"m"`, "no subject"},
	} {
		if !strings.Contains(text, test.old) {
			t.Fatalf("%s: no %s", name, test.old)
		}
		data := sign(t, []byte(strings.Replace(text, test.old, test.new, 1)), key)
		if _, err := accept(data, &key.PublicKey); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestPublicKeys reads keys in both forms, and refuses others.
func TestPublicKeys(t *testing.T) {
	key := newKey(t)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	line := base64.StdEncoding.EncodeToString(der) + "\n"
	inPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for _, data := range [][]byte{[]byte(line), inPEM} {
		if got, err := provenance.ParsePublicKey(data); err != nil || !got.Equal(&key.PublicKey) {
			t.Errorf("%s: %v", data, err)
		}
	}
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der384, err := x509.MarshalPKIXPublicKey(&wide.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"curve P-256": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der384}),
		"PRIVATE KEY": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		"neither PEM": []byte("hello"), "asn1": []byte("aGVsbG8=")} {
		if _, err := provenance.ParsePublicKey(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// files writes an envelope, an envelope with a changed payload, and the public key, and returns their paths.
func files(t *testing.T) (good, changed, public string) {
	t.Helper()
	s, _ := sample()
	key := newKey(t)
	text := encode(t, s)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	data := sign(t, text, key)
	forged := bytes.Replace(data, []byte(base64.StdEncoding.EncodeToString(text)),
		[]byte(base64.StdEncoding.EncodeToString(bytes.Replace(text, []byte("throws"), []byte("normal"), 1))), 1)
	dir := t.TempDir()
	good, changed, public = filepath.Join(dir, "good"), filepath.Join(dir, "changed"), filepath.Join(dir, "public")
	for path, content := range map[string][]byte{good: data, changed: forged,
		public: []byte(base64.StdEncoding.EncodeToString(der) + "\n")} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return good, changed, public
}

// TestJavaVerifies has java.security.Signature verify an envelope.
//
// Invariant: The JDK's, OpenSSL's and Python's cryptography accept the signature of a statement, and no other.
func TestJavaVerifies(t *testing.T) {
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	good, changed, public := files(t)
	for file, want := range map[string]string{good: "verified", changed: "not verified"} {
		cmd := exec.CommandContext(t.Context(), jdk.Tool("java"), "testdata/Verify.java", file, public)
		out, err := cmd.CombinedOutput()
		if string(bytes.TrimSpace(out)) != want || (err == nil) != (file == good) {
			t.Errorf("%s: %v: %s", filepath.Base(file), err, out)
		}
	}
}

// TestPythonVerifies has python3-cryptography verify an envelope.
func TestPythonVerifies(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: no python3 on PATH")
	}
	good, changed, public := files(t)
	out, err := exec.CommandContext(t.Context(), python, "testdata/verify.py", good, public).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skipf("skipped: %s", out)
	}
	if err != nil || string(bytes.TrimSpace(out)) != "verified" {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.CommandContext(t.Context(), python, "testdata/verify.py", changed, public).CombinedOutput()
	if err == nil || string(bytes.TrimSpace(out)) != "not verified" {
		t.Errorf("changed: %v: %s", err, out)
	}
}

// FuzzEnvelope reads any bytes as an envelope, and the payload of what is accepted as a statement.
//
// Invariant: No bytes make the reader of signed statements panic, and what it accepts is written back alike.
func FuzzEnvelope(f *testing.F) {
	// The fuzzer needs the same key in each process.
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), append(make([]byte, 31), 7))
	if err != nil {
		f.Fatal(err)
	}
	s, _ := sample()
	text := encode(f, s)
	data := sign(f, text, key)
	f.Add(data, text)
	f.Add([]byte(`{"payload":"","payloadType":"","signatures":[]}`), []byte("{}"))
	f.Fuzz(func(t *testing.T, data, text []byte) {
		if e, err := provenance.ParseEnvelope(data); err == nil {
			again, err := provenance.ParseEnvelope(e.Encode())
			if err != nil || !bytes.Equal(again.Encode(), e.Encode()) || again.KeyID() != e.KeyID() {
				t.Fatalf("%s is written as %s: %v", data, e.Encode(), err)
			}
			want, err1 := e.Verify(&key.PublicKey)
			got, err2 := again.Verify(&key.PublicKey)
			if (err1 == nil) != (err2 == nil) || !bytes.Equal(want, got) {
				t.Errorf("%v, then %v", err1, err2)
			}
		}
		s, err := provenance.ParseStatement(text, provenance.Instrument, &provenance.Instrumentation{})
		if err != nil {
			return
		}
		if again := encode(t, s); !bytes.Equal(again, text) {
			t.Errorf("%s is written as %s", text, again)
		}
		if _, err := accept(sign(t, text, key), &key.PublicKey); err != nil {
			t.Errorf("%s is refused once it is signed: %v", text, err)
		}
	})
}
