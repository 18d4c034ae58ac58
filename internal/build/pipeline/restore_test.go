package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func restore(t *testing.T, c pipeline.RestoreConfig) *pipeline.Restoration {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	r, err := pipeline.Restore(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	return r
}

// signedJar is a jar with a signature, a nested archive, resources, and calls into two packages.
func signedJar(t *testing.T, path string) string {
	inner := archive(t, path+".inner.jar", class("n/Nested", "f", "g"), file{"n/inner.txt", []byte("inner")})
	nested := fixture.Read(t, inner)
	const manifest = "Manifest-Version: 1.0\r\n\r\nName: a/A.class\r\nSHA-256-Digest: AAAA\r\n\r\n"
	return archive(t, path, append(sampleClasses(t), file{"META-INF/MANIFEST.MF", []byte(manifest)},
		file{"META-INF/KEY.SF", []byte("x")}, file{"META-INF/KEY.RSA", []byte("x")},
		runtimeClass(inject.DefaultRuntimeClass), mappingInfo(), class("a/A", "f", "g"),
		file{"res/", nil}, file{"res/raw.stored", bytes.Repeat([]byte("abc"), 100)}, file{"res/text", []byte("text")},
		file{"WEB-INF/lib/inner.jar", nested})...)
}

// TestRestoreFindsChanges changes an instrumented jar in many ways, each of which a difference must name.
//
// Invariant: Every change of an instrumented output that is not a call is found when it is compared with its inputs.
func TestRestoreFindsChanges(t *testing.T) {
	dir := t.TempDir()
	in, out := signedJar(t, filepath.Join(dir, "in.jar")), filepath.Join(dir, "out.jar")
	instrument(t, config(in, out))
	written := contents(t, out)
	at := func(files []file, name string) *file {
		i := slices.IndexFunc(files, func(f file) bool { return f.name == name })
		if i < 0 {
			t.Fatalf("no %s", name)
		}
		return &files[i]
	}
	evil := assembly.Class{Name: "a/A", Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
		Code: "invokestatic evil/E.f()V | return"}, {Access: static, Name: "g", Descriptor: "()V", Code: "return"}}}
	for name, test := range map[string]struct {
		change func([]file) []file
		want   string
	}{
		"added class": {func(f []file) []file { return append(f, class("evil/E", "f")) },
			"evil/E.class: the entry was added"},
		"added resource": {func(f []file) []file { return append(f, file{"META-INF/services/x", []byte("evil.E")}) },
			"META-INF/services/x: the entry was added"},
		"second entry of a name": {func(f []file) []file { return append(f, file{"a/A.class", evil.Bytes()}) },
			"a/A.class: the entry was added"},
		"removed class": {func(f []file) []file {
			return slices.DeleteFunc(f, func(f file) bool { return f.name == "a/A.class" })
		}, "res/: the entry is where "},
		"removed manifest": {func(f []file) []file {
			return slices.DeleteFunc(f, func(f file) bool { return f.name == "META-INF/MANIFEST.MF" })
		}, "AppMethodBeat.class: the entry is where "},
		"changed resource": {func(f []file) []file { at(f, "res/text").data = []byte("Text"); return f },
			"res/text: its content is not that of"},
		"changed manifest": {func(f []file) []file {
			at(f, "META-INF/MANIFEST.MF").data = []byte("Manifest-Version: 1.0\r\nLauncher-Agent-Class: evil.E\r\n")
			return f
		}, "META-INF/MANIFEST.MF: its content is not that of"},
		"other class": {func(f []file) []file { at(f, "a/A.class").data = evil.Bytes(); return f },
			"a/A.class: the class without its calls is not that of"},
		"call to another class": {func(f []file) []file {
			data := at(f, "a/A.class")
			data.data = bytes.Replace(data.data, []byte("AppMethodBeat"), []byte("AppMethodBeax"), 1)
			return f
		}, "a/A.class: the class without its calls is not that of"},
		"moved": {func(f []file) []file { slices.Reverse(f); return f }, ": the entry is where "},
		"nested": {func(f []file) []file {
			nested := at(f, "WEB-INF/lib/inner.jar")
			files := unzip(t, nested.data)
			at(files, "n/inner.txt").data = []byte("Inner")
			var err error
			if nested.data, err = os.ReadFile(archive(t, filepath.Join(dir, "n.jar"), files...)); err != nil {
				t.Fatal(err)
			}
			return f
		}, "out.jar!WEB-INF/lib/inner.jar!n/inner.txt: its content is not that of"},
	} {
		changed := filepath.Join(t.TempDir(), "out.jar")
		archive(t, changed, test.change(slices.Clone(written))...)
		r := restore(t, pipeline.RestoreConfig{Output: changed, Original: in})
		if !slices.ContainsFunc(r.Differences, func(d string) bool { return strings.Contains(d, test.want) }) {
			t.Errorf("%s: %q, want %q", name, r.Differences, test.want)
		}
		if name != "moved" && len(r.Differences) != 1 {
			t.Errorf("%s: more differences: %q", name, r.Differences)
		}
	}
	// The same files in another archive are no difference.
	same := filepath.Join(dir, "same.jar")
	archive(t, same, written...)
	if r := restore(t, pipeline.RestoreConfig{Output: same, Original: in}); len(r.Differences) > 0 {
		t.Errorf("%q", r.Differences)
	}
	// Every byte of a class that changes is noticed, wherever it is.
	c := config(archive(t, filepath.Join(dir, "A.jar"), class("a/A", "f", "g")), out)
	c.RuntimeExternal = true
	instrument(t, c)
	data := contents(t, out)[0].data
	noticed := 0
	for i := range data {
		archive(t, out, file{"a/A.class", slices.Concat(data[:i], []byte{data[i] ^ 1}, data[i+1:])})
		r, err := pipeline.Restore(t.Context(), pipeline.RestoreConfig{Output: out, Original: c.Inputs[0].Path})
		if err != nil || len(r.Differences) > 0 {
			noticed++
		} else if !isOfCalls(data, i) {
			t.Errorf("byte %d, 0x%02x, of the class: not noticed", i, data[i])
		}
	}
	if noticed < len(data)*9/10 {
		t.Errorf("%d of %d bytes were noticed", noticed, len(data))
	}
}

// isOfCalls reports whether the byte at i belongs to what a call may have in more than one way: the constant of its ID,
// the operand of the ldc that loads it, and the method's max_stack, which instrument raises and strip computes anew.
// Such a change adds no code. The digest of the file is what notices it.
func isOfCalls(data []byte, i int) bool {
	const constantInteger, ldc = 3, 0x12
	if i < 5 {
		return false
	}
	for tag := i - 4; tag < i; tag++ {
		if data[tag] == constantInteger && data[tag+1] == 0 && data[tag+2] < 0x10 {
			return true
		}
	}
	attribute := binary.BigEndian.Uint32(data[i-5:]) // the length of Code, if max_stack follows (JVMS 4.7.3)
	return data[i-1] == ldc || data[i-1] == 0 && data[i] == 1 && attribute > 12 && attribute < 64
}
