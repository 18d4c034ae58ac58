package collect

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// clock is a clock that tests set, also while a store reads it.
type clock struct{ now atomic.Pointer[time.Time] }

func newClock() *clock {
	c := new(clock)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c.now.Store(&now)
	return c
}

func (c *clock) read() time.Time { return *c.now.Load() }

func (c *clock) addDays(days int) {
	now := c.read().AddDate(0, 0, days)
	c.now.Store(&now)
}

// openStore opens a store that writes nothing as Parquet until it is closed, and does nothing else at its own time.
func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	if o.Every == 0 {
		o.Every = 24 * time.Hour
	}
	if o.Warn == nil {
		o.Warn = func(err error) { t.Errorf("warning: %v", err) }
	}
	o.NoMaintenance = true
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	s.closeTime = time.Hour // however busy the machine is
	t.Cleanup(func() { s.Close() })
	return s
}

var testOptions = ServerOptions{MaxBody: 1 << 20, MaxReport: 64 << 10, MaxRecording: 4 << 20}

// line returns a report.
func line(id string, app, digest string) string {
	return fmt.Sprintf(`{"format":"tracegen-report","version":1,"id":%q,"kind":"message","detector":"looper",`+
		`"basic":{"package":%q,"mapping":%q,"versionName":"1.0","versionCode":"1","device":"Pixel 7","user":"ann"},`+
		`"timing":{"wallMillis":1700000000000,"durationMillis":1000,"cpuMillis":900},"stack":{"hotPath":[17,97]}}`,
		id, app, digest)
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

// post sends a body of reports, and returns the status and the answer.
func post(h http.Handler, body []byte, headers ...string) (int, string) {
	return send(h, "POST", "/v1/reports", body, append([]string{"Content-Encoding", "gzip"}, headers...)...)
}

func send(h http.Handler, method, path string, body []byte, headers ...string) (int, string) {
	r := httptest.NewRequest(method, "http://collector", bytes.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// eachRow calls each with every row in the Parquet files of a store.
func eachRow(t testing.TB, dir string, each func(*lake.Row)) (files []string) {
	t.Helper()
	l, err := lake.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range l.Files(t.Context(), lake.Reports) {
		if err == nil {
			err = l.Read(t.Context(), f.Name, func(r *lake.Row) error { each(r); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f.Name)
	}
	return files
}

// storedIDs returns the IDs of the reports in the Parquet files of a store, sorted.
func storedIDs(t testing.TB, dir string) (ids []string) {
	t.Helper()
	eachRow(t, dir, func(r *lake.Row) { ids = append(ids, r.ID) })
	slices.Sort(ids)
	return ids
}

// TestReportsAreStoredOnce sends reports twice, also to a store that was opened anew with reports in its log.
//
// Invariant: A collector stores a report once, as long as it remembers its ID, and says how many were new.
func TestReportsAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	one, two := line("aa-s1-0", "com.a", "ab"), line("aa-s2-0", "com.a", "cd")
	body := packed(one + "\n" + two + "\n\n" + one + "\n")
	for i, want := range []string{`{"accepted":2,"duplicates":1,"refused":[]}`,
		`{"accepted":0,"duplicates":3,"refused":[]}`, `{"accepted":0,"duplicates":3,"refused":[]}`} {
		s := openStore(t, dir, Options{Warn: func(error) {}})
		if i < 2 {
			s.cancel() // nothing becomes Parquet
		}
		status, answer := post(NewServer(s, testOptions), body)
		if status != 200 || strings.TrimSpace(answer) != want {
			t.Errorf("%d: %d %s", i, status, answer)
		}
		if err := s.Close(); err != nil || s.Unfinished() != (i < 2) {
			t.Fatal(err, s.Unfinished())
		}
	}
	if got := storedIDs(t, dir); !slices.Equal(got, []string{"aa-s1-0", "aa-s2-0"}) {
		t.Errorf("%q", got)
	}
	files := eachRow(t, dir, func(*lake.Row) {})
	if len(files) != 2 || !strings.Contains(files[0], "package=com.a/mapping=ab/date=2") {
		t.Errorf("%q", files)
	}
}

// TestHostileBodies sends what nothing must be stored of.
//
// Invariant: The collector refuses damaged and hostile bodies, and stores nothing of them.
func TestHostileBodies(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	h := NewServer(s, testOptions)
	good := packed(line("aa-s1-0", "com.a", "ab"))
	damaged := bytes.Clone(good)
	damaged[len(damaged)-6] ^= 1 // the CRC-32
	random := make([]byte, 700<<10)
	for i, x := 0, uint32(1); i < len(random); i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	for _, c := range []struct {
		name   string
		body   []byte
		status int
		want   string
	}{
		{"empty", nil, 400, "cut off"},
		{"no gzip", []byte("{}{}{}{}{}{}{}{}{}{}"), 400, "not gzip"},
		{"checksum", damaged, 400, "damaged"},
		{"cut off", good[:len(good)-9], 400, "cut off"},
		{"two members", append(bytes.Clone(good), good...), 400, "one member"},
		{"more behind", append(bytes.Clone(good), 0), 400, "one member"},
		{"no report", packed(""), 400, "no report"},
		{"no JSON", packed(line("aa-s1-0", "com.a", "ab") + "\nhello\n"), 400, "line 2"},
		{"no UTF-8", packed(line("aa-s1-0", "com.a", "ab") + "\n\xff\n"), 400, "not UTF-8"},
		{"not a report", packed(`{"a":1}`), 400, "not a report"},
		{"deep", packed(strings.Repeat("[", 1<<20)), 400, "exceeded max depth"},
		{"bomb", packed(strings.Repeat(" ", 12<<20)), 413, "times its size"},
		{"large inflated", packed(strings.Repeat(string(random[:16<<10]), 1030)), 413, "when it is inflated"},
		{"large", packed(string(random) + string(random)), 413, "at most 1048576"},
	} {
		status, answer := post(h, c.body)
		if status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
	if status, answer := post(h, good, "Content-Encoding", "br"); status != 400 {
		t.Error(status, answer)
	}
	if left := h.bodies.left.Load(); left != bodyBudget {
		t.Errorf("%d bytes of the budget were not put back", bodyBudget-left)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if ids := storedIDs(t, dir); len(ids) > 0 {
		t.Errorf("stored %q", ids)
	}
}

// TestBusyAndFull takes all of the budget, and fills the store: the client is to come again.
func TestBusyAndFull(t *testing.T) {
	dir := t.TempDir()
	fixture.Write(t, filepath.Join(dir, "recordings", "com.a", "ab", "aa.part1.tgd"), make([]byte, 1<<20))
	s := openStore(t, dir, Options{})
	h := NewServer(s, testOptions)
	body := packed(line("aa-s1-0", "com.a", "ab"))
	if !h.bodies.take(bodyBudget) {
		t.Fatal("no budget")
	}
	wantRetry := func(seconds string) {
		t.Helper()
		r := httptest.NewRequest("POST", "/v1/reports", bytes.NewReader(body))
		r.Header.Set("Content-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 429 || w.Header().Get("Retry-After") != seconds {
			t.Errorf("%d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	wantRetry("5")
	h.bodies.put(bodyBudget)
	s.MaxBytes = 1 << 20
	wantRetry("3600")
	if status, _ := send(h, "GET", "/readyz", nil); status != 503 {
		t.Errorf("readyz %d", status)
	}
	s.MaxBytes = 0
	if status, answer := post(h, body); status != 200 {
		t.Error(status, answer)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if status, _ := post(h, packed(line("aa-s2-0", "com.a", "ab"))); status != 503 {
		t.Errorf("closed: %d", status)
	}
}

// TestTokens compares requests with several tokens.
func TestTokens(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	h := NewServer(s, testOptions)
	tokens, err := ParseTokens("# two\n0123456789abcdef\n\nfedcba9876543210\n")
	if err != nil {
		t.Fatal(err)
	}
	h.SetTokens(tokens)
	body := packed(line("aa-s1-0", "com.a", "ab"))
	for header, want := range map[string]int{"": 401, "Bearer": 401, "Bearer ": 401, "Bearer wrong": 401,
		"Basic 0123456789abcdef": 401, "Bearer 0123456789abcdef": 200, "bearer fedcba9876543210": 200,
		"Bearer 0123456789abcdef0": 401} {
		if status, answer := post(h, body, "Authorization", header); status != want {
			t.Errorf("%q: %d %s", header, status, answer)
		}
	}
	if status, _ := send(h, "PUT", "/v1/recordings/ab/1", nil); status != 401 {
		t.Error(status)
	}
	for _, bad := range []string{"", "# none\n", "short\n", "0123456789abcdef 0123456789abcdef\n"} {
		if _, err := ParseTokens(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestPaths asks for what is not there, and for paths that lead elsewhere.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "store"), Options{})
	h := NewServer(s, testOptions)
	body := packed(string(recordingBytes(t)))
	for _, path := range []string{"/v1/recordings/../1", "/v1/recordings/..%2f..%2fx/1", "/v1/recordings//1",
		"/v1/recordings/ab/../../x", "/v1/recordings/ab/0", "/v1/recordings/ab/01", "/v1/recordings/ab/-1",
		"/v1/recordings/ab/99999999999999999999", "/v1/recordings/" + strings.Repeat("a", 5000) + "/1",
		"/v1/recordings/a\x00b/1", "/v1/recordings/ab/1/2", "/v1/recordings/AB/1", "/", "/v1/reports/../config"} {
		if status, answer := send(h, "PUT", path, body, "Content-Encoding", "gzip", headerPackage, "com.a"); status < 400 ||
			status == 500 {
			t.Errorf("%q: %d %s", path, status, answer)
		}
	}
	for _, header := range []string{"../../x", "/etc", "a/b", "..", ".", "a\x00", strings.Repeat("a", 300)} {
		for _, name := range []string{headerPackage, headerMapping} {
			status, answer := send(h, "PUT", "/v1/recordings/ab/1", body, "Content-Encoding", "gzip", name, header)
			if status != 400 {
				t.Errorf("%s %q: %d %s", name, header, status, answer)
			}
		}
	}
	if status, _ := send(h, "GET", "/v1/reports", nil); status != 405 {
		t.Error(status)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	if files := filesBelow(t, filepath.Join(dir, "store")); !slices.Equal(files, emptyStore) {
		t.Errorf("%q", files)
	}
}

// emptyStore has the files of a store without reports and recordings.
var emptyStore = []string{"tracegen-collect", "wal/lock"}

func filesBelow(t testing.TB, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func recordingBytes(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../trace/testdata/vectors/every.tgd")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordings sends parts of a recording: once, again, and others under the same name.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	h := NewServer(s, testOptions)
	content := recordingBytes(t)
	sum := sha256.Sum256(content)
	put := func(path string, content []byte, sum string) (int, string) {
		return send(h, "PUT", path, packed(string(content)), "Content-Encoding", "gzip", headerPackage, "com.a",
			headerMapping, "ab", headerSHA256, sum)
	}
	for _, c := range []struct {
		path    string
		content []byte
		sum     string
		status  int
		want    string
	}{
		{"/v1/recordings/ab12/1", content, hex.EncodeToString(sum[:]), 200, "stored"},
		{"/v1/recordings/ab12/1", content, hex.EncodeToString(sum[:]), 200, "stored"},
		{"/v1/recordings/ab12/2", content, strings.ToUpper(hex.EncodeToString(sum[:])), 200, "stored"},
		{"/v1/recordings/ab12/1", append(bytes.Clone(content), 0), "", 409, "another content"},
		{"/v1/recordings/ab12/3", content, strings.Repeat("0", 64), 400, "SHA-256"},
		{"/v1/recordings/ab12/4", []byte("no recording"), "", 400, "recording"},
		{"/v1/recordings/ab12/5", make([]byte, 5<<20), "", 413, "inflate"},
	} {
		if status, answer := put(c.path, c.content, c.sum); status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %d %s", c.path, status, answer)
		}
	}
	want := append([]string{"recordings/com.a/ab/ab12.part1.tgd", "recordings/com.a/ab/ab12.part2.tgd"}, emptyStore...)
	if files := filesBelow(t, dir); !slices.Equal(files, want) {
		t.Errorf("%q", files)
	}
	if got, err := os.ReadFile(filepath.Join(dir, want[0])); err != nil || !bytes.Equal(got, content) {
		t.Error("the content differs", err)
	}
}

// TestConfig verifies what an app gets with the public key that collect prints; openssl has made the private key.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	text := "package = com.a\nserial: 7\nexpires=1900000000000\nenabled true\nmethods-off = 1,2\n"
	if err := os.WriteFile(filepath.Join(dir, "a.properties"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := LoadKey("testdata/signing.pem")
	if err != nil {
		t.Fatal(err)
	}
	configs, err := LoadConfigs(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	c := newClock()
	h := NewServer(openStore(t, filepath.Join(dir, "store"), Options{Now: c.read}), testOptions)
	h.SetTokens([]string{"0123456789abcdef"}) // the kill switch must work without one
	if status, _ := send(h, "GET", "/v1/config?package=com.a", nil); status != 404 {
		t.Error(status)
	}
	h.SetConfigs(configs)
	status, answer := send(h, "GET", "/v1/config?package=com.a&sdk=34", nil)
	signature, signed, _ := strings.Cut(answer, "\n")
	if status != 200 || signed != text {
		t.Fatal(status, answer)
	}
	public, err := PublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der, err1 := base64.StdEncoding.DecodeString(public)
	pinned, err2 := x509.ParsePKIXPublicKey(der)
	raw, err3 := base64.StdEncoding.DecodeString(signature)
	sum := sha256.Sum256([]byte(signed))
	if err := errors.Join(err1, err2, err3); err != nil || !ecdsa.VerifyASN1(pinned.(*ecdsa.PublicKey), sum[:], raw) {
		t.Errorf("the signature does not verify: %v", err)
	}
	_, tag, _ := configs.find("com.a", c.read())
	if status, _ := send(h, "GET", "/v1/config?package=com.a", nil, "If-None-Match", tag); status != 304 {
		t.Error(status)
	}
	if status, _ := send(h, "GET", "/v1/config?package=com.b", nil); status != 404 {
		t.Error(status)
	}
	c.addDays(4 * 365)
	if status, _ := send(h, "GET", "/v1/config?package=com.a", nil); status != 404 || len(configs.Expired(c.read())) != 1 {
		t.Errorf("settings that have expired: %d", status)
	}
	for bad, want := range map[string]string{"": "package", "package=a/b": "package", "package=a": "serial",
		"package=a\nserial=1": "expires", "package=a\nserial=x\nexpires=1": "serial", "a=1\na=2": "there twice",
		"a=1\nb = 1,\\\n 2": "line 2: a backslash", "package=\xff": "UTF-8"} {
		if _, _, err := checkConfig([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestKeyMode refuses a private key that every user can read.
func TestKeyMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	file := filepath.Join(t.TempDir(), "signing.pem")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o440: "", 0o644: "chmod o=", 0o602: "chmod o="} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckKeyMode(file); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// TestNamesOfDirectories has directories whose names would be patterns: what a killed process left in one is removed,
// and settings are found there.
func TestNamesOfDirectories(t *testing.T) {
	key, err := LoadKey("testdata/signing.pem")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a[b", "a[1]", "größe mit 日本"} {
		dir := filepath.Join(t.TempDir(), name)
		left := filepath.Join(dir, "wal", objects.Temporary+"1.tgd")
		fixture.Write(t, left, "")
		s := openStore(t, dir, Options{})
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", left, err)
		}
		if err := errors.Join(addOne(s, 1), s.Close()); err != nil || len(storedIDs(t, dir)) != 1 {
			t.Error(name, err)
		}
		fixture.Write(t, filepath.Join(dir, "a.properties"), "package=com.a\nserial=1\nexpires=1\n")
		if configs, err := LoadConfigs(dir, key); err != nil || len(configs.byPackage) != 1 {
			t.Error(name, err)
		}
	}
}

// TestStoreRefusesOthers opens a store of an earlier version, and a log twice.
func TestStoreRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "collect.db"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "start and stop on it once") {
		t.Error(err)
	}
	other := t.TempDir()
	openStore(t, other, Options{})
	if _, err := Open(other, Options{}); err == nil || !strings.Contains(err.Error(), "by --wal") {
		t.Error(err)
	}
	if err := openStore(t, other, Options{Log: t.TempDir()}).Close(); err != nil {
		t.Errorf("a second collector with a log of its own: %v", err)
	}
	later := t.TempDir()
	if err := os.WriteFile(filepath.Join(later, "tracegen-collect"), []byte("tracegen-collect 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(later, Options{}); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
}
