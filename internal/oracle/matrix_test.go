package oracle

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// oddMethods are names that a class file may have and that break programs that read mappings line by line.
var oddMethods = []string{
	"reads it, then 100% closes #1", "größe", "名前", "emoji\xed\xa0\xbd\xed\xb8\x80", "a\u2028b", "a\u0085b",
	"tab\tname", "lambda$f$1",
	" leads", "trails ", "nbsp\u00a0name", "-dash", "a=b", "'quoted\"", "\\back\\slash",
}

// matrixJar writes a jar with the classes of another that ASM 7 can read, and with one that has odd names. It returns
// the methods with code.
func matrixJar(t *testing.T, from, to string) []mapping.Method {
	t.Helper()
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	var methods []mapping.Method
	add := func(name string, data []byte) {
		c := assembly.Parse(t, data)
		w, err := out.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Methods() {
			const withoutCode = 0x0100 | 0x0400 // native, abstract
			if m.AccessFlags&withoutCode == 0 {
				methods = append(methods, mapping.Method{Access: m.AccessFlags, Identity: mapping.Identity{
					Class: c.Name(), Name: m.Name, Descriptor: m.Descriptor,
				}})
			}
		}
	}
	EachClass(t, from, func(name string, data []byte) {
		if !strings.HasPrefix(name, "META-INF/") && name != "module-info.class" {
			add(name, data)
		}
	})
	odd := assembly.Class{Name: "a/Odd", Super: "java/lang/Object"}
	for _, name := range oddMethods {
		odd.Methods = append(odd.Methods, assembly.Method{Access: 9, Name: name, Descriptor: "(I)V", Stack: 2, Locals: 1,
			Code: "return"})
	}
	add("a/Odd.class", odd.Bytes())
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, to, b.Bytes())
	return methods
}

// TestMatrixReadsAndWrites checks that Matrix's own reader reads our mapping of a real jar line by line and assigns to
// the methods of the next build the IDs of that base, and that we read what its writer then writes, and keep those IDs.
//
// Invariant: Matrix's own reader accepts our mapping, and we accept what its writer writes.
func TestMatrixReadsAndWrites(t *testing.T) {
	nightly.Only(t, "tools")
	dir := t.TempDir()
	cache, err := CacheDir("maven")
	if err != nil {
		t.Fatal(err)
	}
	Require(t, FetchMaven(t.Context(), cache, matrixArtifacts))
	stdlib := matrixArtifacts[len(matrixArtifacts)-1]
	jar := filepath.Join(dir, "in.jar")
	methods := matrixJar(t, filepath.Join(cache, stdlib.File()), jar)
	// Every fifth method is new in the next build; some of the base's are gone.
	var known []mapping.Method
	for i, m := range methods {
		if i%5 != 0 {
			known = append(known, m)
		}
	}
	gone := mapping.Method{Access: 1, Identity: mapping.Identity{Class: "a/Gone", Name: "f", Descriptor: "()V"}}
	// The IDs are compact, because Matrix numbers new methods from the highest ID of the base on: after IDs that are
	// placed by hash it would soon use the ID of the dispatch, and then IDs that its runtime drops.
	first, err := mapping.Assign(append(known, gone), mapping.Options{Order: mapping.OrderCompact,
		Runtime: "com/tencent/matrix/trace/core/AppMethodBeat"})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := mapping.Assign(known, mapping.Options{Base: first, Order: mapping.OrderCompact,
		Focus: []mapping.Focus{{Class: "a/Odd", Action: mapping.FocusAdd}}})
	if err != nil {
		t.Fatal(err)
	}
	base, out := filepath.Join(dir, "base.txt"), filepath.Join(dir, "out.txt")
	var text bytes.Buffer
	if _, err := ours.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, base, text.Bytes())

	read := Matrix(t, base, "", "")
	byID := map[int]MatrixMethod{}
	for _, m := range read {
		byID[m.ID] = m
	}
	wrong := 0
	for e := range ours.All() {
		want := MatrixMethod{int(e.ID), int(e.Access), mapping.Text(e.Class), mapping.Text(e.Name),
			mapping.Text(e.Descriptor)}
		if got := byID[int(e.ID)]; got != want {
			if wrong++; wrong < 10 {
				t.Errorf("Matrix reads %v, want %v", got, want)
			}
		}
	}
	if len(read) != ours.Len()+1 || byID[mapping.DispatchID].Name != "dispatchMessage" {
		t.Errorf("Matrix reads %d methods of %d and the dispatch", len(read), ours.Len())
	}

	collected := Matrix(t, base, jar, out)
	theirs, err := mapping.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	kept, added := 0, 0
	for e := range theirs.All() {
		if id, ok := ours.ByMethod(e.Identity); ok && id != e.ID {
			t.Errorf("%v has ID %d in the base", e, id)
		} else if ok {
			kept++
		} else {
			added++
		}
	}
	for _, m := range collected {
		e, ok := theirs.ByID(uint32(m.ID))
		if !ok || strings.ReplaceAll(m.Class, "/", ".") != literal(e.Class) || m.Name != literal(e.Name) ||
			strings.ReplaceAll(m.Desc, "/", ".") != literal(e.Descriptor) {
			t.Errorf("Matrix wrote %+v, we read %q", m, e.Line())
		}
	}
	next, err := mapping.Assign(methods, mapping.Options{Base: theirs})
	if err != nil {
		t.Fatal(err)
	}
	for e := range theirs.All() {
		if n, ok := next.ByID(e.ID); !ok || n.Identity != e.Identity {
			t.Errorf("ID %d is %v with Matrix's map as base, want %v", e.ID, n, e)
		}
	}
	t.Logf("measured: Matrix reads our %d methods; of the %d that it writes %d keep the IDs of our base, %d are new",
		len(read), theirs.Len()+1, kept, added)
	if kept < ours.Len()-len(oddMethods) || added == 0 {
		t.Errorf("only %[2]d of %[1]d methods of the base are kept; %[3]d are new", ours.Len(), kept, added)
	}
}

// literal returns a raw name as Matrix writes it: dots for slashes, nothing escaped.
func literal(raw string) string {
	s, _ := classfile.DecodeMUTF8(raw)
	return strings.ReplaceAll(s, "/", ".")
}
