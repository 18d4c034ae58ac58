package code_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// FuzzMethods checks that analysing and moving the methods of any class file returns a result or an error, and that
// a method that was moved can be parsed again.
//
// Invariant: No method makes the analysis of code panic, and a malicious method costs no more than an ordinary one
// of its size.
func FuzzMethods(f *testing.F) {
	for _, path := range sampleFiles(f) {
		data := fixture.Read(f, path)
		if len(data) < 2500 {
			f.Add(data, uint16(7), uint16(3), false)
			f.Add(data, uint16(0), uint16(32760), true)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, where, length uint16, handler bool) {
		class, err := classfile.Parse(data)
		if err != nil {
			return
		}
		for i := range class.Methods() {
			moveAnything(t, class, i, int(where), int(length), handler)
		}
	})
}

// TestSpoiledMethods does the same as FuzzMethods, with the Code attributes of testdata, each byte of which it
// changes in turn.
func TestSpoiledMethods(t *testing.T) {
	moved, refused := 0, 0
	for _, m := range sampleMethods(t) {
		attribute, _ := classfile.FindAttribute(m.method.Attributes, "Code")
		if testing.Short() && len(attribute.Info) > 100 || len(attribute.Info) > 1200 {
			continue
		}
		index := slices.IndexFunc(m.class.Methods(),
			func(x classfile.Member) bool { return x.Offset == m.method.Offset })
		data := bytes.Clone(m.class.Bytes())
		for at := attribute.Offset; at < attribute.Offset+len(attribute.Info); at++ {
			old := data[at]
			for i, v := range []byte{0, 0xFF, old ^ 1, old ^ 0x80} {
				data[at] = v
				length := 1 + at%3
				if (at+i)%4 == 0 {
					length = 32760 // puts branches out of reach
				}
				class, err := classfile.Parse(data)
				if err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				if moveAnything(t, class, index, at*7%40, length, at%2 == 0) {
					moved++
				} else {
					refused++
				}
			}
			data[at] = old
		}
	}
	if moved < 1000 || refused < 1000 {
		t.Errorf("%d methods could be moved, %d could not: there should be many of both", moved, refused)
	}
}

// moveAnything analyses a method that may be malformed, and reports whether it could be moved.
func moveAnything(t *testing.T, class *classfile.Class, index, where, length int, handler bool) bool {
	t.Helper()
	m := &class.Methods()[index]
	body, ok, err := class.Code(m)
	if !ok || err != nil {
		return false
	}
	var depths code.Depths
	if err := depths.Follow(class.ConstantPool(), &body); err == nil {
		checkDepths(t, sample{m.Name, class, m, body}, &depths)
	}
	if _, err = code.Initialisation(class.ConstantPool(), &body); err == nil && len(body.Bytecode) == 0 {
		t.Errorf("%s has no code and is not reported", m.Name)
	}
	pool := classfile.NewPoolBuilder(class.ConstantPool())
	patch := code.Patch{MaxStack: body.MaxStack}
	for in, err := range code.Instructions(body.Bytecode) {
		if err == nil && in.PC >= where {
			patch.Insertions = []code.Insertion{{PC: in.PC, Bytecode: make([]byte, length), Entry: where%2 == 0}}
			break
		}
	}
	if handler {
		patch.Handler = &code.Handler{Bytecode: []byte{0xBF}, Throwable: pool.Class("java/lang/Throwable"),
			Ranges: [][2]int{{0, len(body.Bytecode)}}}
	}
	info, _, err := relocated(sample{m.Name, class, m, body}, patch, pool)
	if err != nil {
		return false
	}
	out, err := class.Rewrite(classfile.Edit{Constants: pool, Codes: []classfile.CodeEdit{{Method: index, Info: info}}})
	if err != nil {
		t.Fatal(err)
	}
	again := assembly.Parse(t, out)
	if _, _, err := again.Code(&again.Methods()[index]); err != nil {
		t.Error(err)
	}
	return true
}
