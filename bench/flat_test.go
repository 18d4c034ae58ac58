package main

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestSeedCopies copies two classes that refer to each other, and to one that is not copied. In a copy, they refer to
// the copy, and nothing else differs.
func TestSeedCopies(t *testing.T) {
	a := assembly.Class{Name: "org/a/A", Super: "org/a/B", Methods: []assembly.Method{{Access: classfile.AccStatic,
		Name:       "f",
		Descriptor: "(Lorg/a/A;[Lorg/a/B;Lorg/a/C;)V", Locals: 3,
		Code: "invokestatic org/a/B.g(Lorg/a/A;)V | invokestatic org/a/C.h()V | return"}}}
	b := assembly.Class{Name: "org/a/B"}
	s := seed{names: []string{"org/a/A", "org/a/B"}, data: map[string][]byte{"org/a/A": a.Bytes(), "org/a/B": b.Bytes()}}
	if name, data := s.copy(0, 0); name != "org/a/A" || string(data) != string(a.Bytes()) {
		t.Errorf("the original is %s", name)
	}
	seen := map[string]bool{}
	for number := range 60 {
		name, data := s.copy(0, number)
		if seen[name] {
			t.Fatalf("copy %d is called %s, as another is", number, name)
		}
		seen[name] = true
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := s.copy(1, number)
		want := "(L" + name + ";[L" + other + ";Lorg/a/C;)V"
		if m := c.Methods()[0]; c.Name() != name || c.SuperName() != other || m.Descriptor != want ||
			len(data) != len(a.Bytes()) {
			t.Errorf("copy %d: class %s extends %s, has f%s, want f%s", number, c.Name(), c.SuperName(), m.Descriptor, want)
		}
		if _, ok := c.ConstantPool().FindUtf8("org/a/C"); !ok {
			t.Errorf("copy %d: a class that is not copied has another name", number)
		}
	}
}
