package pipeline_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

const (
	public = classfile.AccPublic
	static = classfile.AccPublic | classfile.AccStatic
)

// file is an entry of a jar, or a file in a directory.
type file struct {
	name string
	data []byte
}

// archive writes a jar by the standard library's zip writer, which the tool does not use.
func archive(t testing.TB, path string, files ...file) string {
	t.Helper()
	return archiveAt(t, path, time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC), files...)
}

func archiveAt(t testing.TB, path string, modified time.Time, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		method := zip.Deflate
		if strings.HasSuffix(f.name, ".stored") || strings.HasSuffix(f.name, "/") {
			method = zip.Store
		}
		e, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method, Modified: modified})
		if err == nil {
			_, err = e.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, path, b.Bytes())
	return path
}

// contents returns the entries of a jar by the standard library's reader, in order.
func contents(t testing.TB, path string) (files []file) {
	t.Helper()
	return unzip(t, fixture.Read(t, path))
}

func unzip(t testing.TB, data []byte) (files []file) {
	t.Helper()
	for _, e := range fixture.Unpack(t, data) {
		files = append(files, file{e.Name, []byte(e.Data)})
	}
	return files
}

func entryOf(t testing.TB, files []file, name string) []byte {
	t.Helper()
	for _, f := range files {
		if f.name == name {
			return f.data
		}
	}
	t.Fatalf("there is no entry %s", name)
	return nil
}

// tree lists what is below a directory: names with contents, and modes of what is no plain file.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			all[name] = string(data)
			return err
		default:
			all[name] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// runtimeClass is a runtime of that name that does nothing but call the methods named when entered.
func runtimeClass(name string, calls ...string) file {
	void := func(name, descriptor string, calls []string) assembly.Method {
		text := ""
		for _, c := range calls {
			text += "invokestatic " + c + " | "
		}
		return assembly.Method{Access: static, Name: name, Descriptor: descriptor, Locals: 3, Code: text + "return"}
	}
	return file{name + ".class", assembly.Class{Name: name, Methods: []assembly.Method{
		void("i", "(I)V", calls), void("o", "(I)V", nil), void("at", "(Landroid/app/Activity;Z)V", nil),
		void("posted", "(Ljava/lang/Object;Ljava/lang/Object;I)V", nil),
		void("posted", "(Ljava/lang/Object;II)V", nil), void("o", "(Ljava/lang/Object;I)V", nil),
		void("continues", "(Ljava/lang/Object;I)V", nil), void("starts", "(Ljava/lang/Object;I)V", nil),
		void("resumes", "(Ljava/lang/Object;I)V", nil)}}.Bytes()}
}

func mappingInfo() file {
	const name = "dev/tracegen/runtime/MappingInfo"
	return file{name + ".class", assembly.Class{Name: name, Methods: []assembly.Method{
		{Access: static, Name: "digest", Descriptor: "()Ljava/lang/String;", Stack: 1, Code: `ldc "0000000000000000" | areturn`}}}.Bytes()}
}

// class is a class whose static methods ()V of these names do nothing.
func class(name string, methods ...string) file {
	c := assembly.Class{Name: name}
	for _, m := range methods {
		c.Methods = append(c.Methods, assembly.Method{Access: static, Name: m, Descriptor: "()V", Code: "return"})
	}
	return classFile(c)
}

func classFile(c assembly.Class) file { return file{c.Name + ".class", c.Bytes()} }

// everything traces what can be traced.
func everything() *filter.Filter { return filter.New(filter.Options{Trivial: filter.None}) }

// config instruments one input, tracing what can be traced.
func config(input, output string) pipeline.Config {
	return pipeline.Config{Inputs: []pipeline.Input{{Path: input, Output: output}}, Filter: everything(), Jobs: 2}
}

// instrument runs and checks what holds for every run: nothing of it stays behind, and what the result says adds
// up to what there is.
func instrument(t testing.TB, c pipeline.Config) *pipeline.Result {
	t.Helper()
	before := runtime.NumGoroutine()
	result, err := pipeline.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	checkGoroutines(t, before)
	checkCounts(t, c, result)
	return result
}

// fails runs what must fail with these words, and leaves no goroutine behind.
func fails(t testing.TB, ctx context.Context, c pipeline.Config, words ...string) {
	t.Helper()
	before := runtime.NumGoroutine()
	result, err := pipeline.Run(ctx, c)
	if err == nil || result != nil {
		t.Fatalf("got result %v and error %v, want an error", result != nil, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	checkGoroutines(t, before)
}

func checkGoroutines(t testing.TB, before int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// checkCounts checks that every method with code is traced or has one line that says why not.
func checkCounts(t testing.TB, c pipeline.Config, result *pipeline.Result) {
	t.Helper()
	methods, traced, listed := 0, 0, 0
	for _, in := range result.Inputs {
		methods, traced = methods+in.Methods, traced+in.Traced
	}
	seen := map[string]bool{}
	for s := range result.Skipped {
		if s.Reason == "" {
			t.Errorf("%+v has no reason", s)
		}
		if s.Name == "" && s.Descriptor == "" { // of a class that cannot be read
			continue
		}
		listed++
		seen[s.Input+"!"+s.Entry] = true
	}
	if methods != traced+listed {
		t.Errorf("%d methods, but %d traced and %d listed", methods, traced, listed)
	}
	if result.Mapping.Len() > traced || traced > 0 && result.Mapping.Len() == 0 {
		t.Errorf("%d methods in the mapping, %d traced", result.Mapping.Len(), traced)
	}
}

// reported is what the code of one class calls, taken from it by package code, without package verify.
type reported map[mapping.Identity][]uint32 // IDs given to i, then to o

// callsIn finds the calls of the runtime in a class file.
func callsIn(t testing.TB, data []byte, runtimeClass string) reported {
	t.Helper()
	c := assembly.Parse(t, data)
	calls := reported{}
	for i := range c.Methods() {
		m := &c.Methods()[i]
		body, ok, err := c.Code(m)
		if err != nil || !ok {
			continue
		}
		var last code.Instruction
		for in, err := range code.Instructions(body.Bytecode) {
			if err != nil {
				break
			}
			if in.Op == code.Invokestatic {
				ref, err := c.ConstantPool().Ref(in.Constant())
				if err == nil && ref.Class == runtimeClass && (ref.Name == "i" || ref.Name == "o") {
					id := mapping.Identity{Class: c.Name(), Name: m.Name, Descriptor: m.Descriptor}
					calls[id] = append(calls[id], pushed(t, c, last))
				}
			}
			last = in
		}
	}
	return calls
}

func pushed(t testing.TB, c *classfile.Class, in code.Instruction) uint32 {
	t.Helper()
	switch in.Op {
	case code.Bipush:
		return uint32(in.U1(0))
	case code.Sipush:
		return uint32(in.U2(0))
	case code.Ldc, code.LdcW:
		return binary.BigEndian.Uint32(c.ConstantPool().Raw(in.Constant()))
	}
	if in.Op < code.Iconst1 || in.Op > code.Iconst5 {
		t.Fatalf("%s: %v at %d pushes no ID", c.Name(), in.Op, in.PC)
	}
	return uint32(in.Op - code.Iconst0)
}

// checkAgreement checks that the classes call with the IDs of the mapping, each method with its own, and that
// each method of the mapping calls.
func checkAgreement(t testing.TB, m *mapping.Mapping, runtimeClass string, files []file) {
	t.Helper()
	called := map[mapping.Identity]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.name, ".class") || len(f.data) < 8 ||
			binary.BigEndian.Uint16(f.data[6:]) > classfile.MaxMajor {
			continue
		}
		if _, err := classfile.Parse(f.data); err != nil {
			continue
		}
		for id, calls := range callsIn(t, f.data, runtimeClass) {
			want, ok := m.ByMethod(id)
			if !ok {
				t.Errorf("%s: %v calls, and is not in the mapping", f.name, id)
				continue
			}
			called[id] = true
			for _, got := range calls {
				if got != want {
					t.Errorf("%s: %v calls with ID %d, the mapping says %d", f.name, id, got, want)
				}
			}
		}
	}
	for e := range m.All() {
		if !called[e.Identity] && e.ID != mapping.DispatchID {
			t.Errorf("%v has the ID %d and does not call", e.Identity, e.ID)
		}
	}
}

// reasons returns the reason of each method that is listed, by CLASS.NAME; of a class without methods by CLASS, or
// its entry.
func reasons(result *pipeline.Result) map[string]string {
	all := map[string]string{}
	for s := range result.Skipped {
		key := s.Class
		if key == "" {
			key = s.Entry
		}
		if s.Name != "" {
			key += "." + s.Name
		}
		all[key] = string(s.Reason)
	}
	return all
}

func mappingText(t testing.TB, m *mapping.Mapping) string {
	t.Helper()
	var b strings.Builder
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// warned says whether a warning has all the words.
func warned(result *pipeline.Result, words ...string) bool {
	return slices.ContainsFunc(result.Warnings, func(w string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(w, word) })
	})
}

// sampleClasses are classes that compilers made, as entries of a jar.
func sampleClasses(t testing.TB) (files []file) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "testdata", "classes", "bin")
	for _, dir := range []string{"g", "none", "modern"} {
		names, err := filepath.Glob(filepath.Join(root, dir, "*.class"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no sample classes: %v", err)
		}
		for _, name := range names {
			data := fixture.Read(t, name)
			prefix := map[string]string{"g": "", "none": "META-INF/versions/9/", "modern": ""}[dir]
			files = append(files, file{prefix + filepath.Base(name), data})
		}
	}
	return files
}

func sortedKeys[V any](m map[string]V) string { return fmt.Sprint(slices.Sorted(maps.Keys(m))) }
