package filter

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestTraits wants each condition on a trait to match the methods with this trait, and no others.
//
// Invariant: Rules match the methods that meet their conditions.
func TestTraits(t *testing.T) {
	traits := []struct {
		name          string
		class, method uint16
		record, loop  bool
	}{
		{name: "public", method: 0x1}, {name: "private", method: 0x2}, {name: "protected", method: 0x4},
		{name: "static", method: 0x8}, {name: "final", method: 0x10}, {name: "synchronized", method: 0x20},
		{name: "varargs", method: 0x80}, {name: "strictfp", method: 0x800}, {name: "synthetic", method: 0x1000},
		{name: "interface", class: 0x200}, {name: "abstract", class: 0x400}, {name: "enum", class: 0x4000},
		{name: "record", record: true}, {name: "loop", loop: true},
	}
	for _, has := range traits {
		class := assembly.Class{Name: "a/A", Access: 0x20 | has.class, Methods: []assembly.Method{{
			Access: has.method, Name: "f", Descriptor: "()V", Code: "return", Locals: 1}}}
		if has.record {
			class.Attributes = []assembly.Attribute{{Name: "Record", Info: []byte{0, 0}}}
		}
		if has.loop {
			class.Methods[0].Code = "a: goto a"
		}
		c := class.Parse()
		code, _, err := c.Code(&c.Methods()[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range traits {
			for _, value := range []string{"true", "false"} {
				config, err := ParseConfig("t.yml", []byte("rules:\n- block: { "+asked.name+": "+value+" }\n"), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				f := New(Options{Rules: config.Rules, Trivial: None}).ForClass(c)
				want := (asked.name == has.name) == (value == "true")
				if got := f.Decide(&c.Methods()[0], code).Reason == ReasonBlocked; got != want {
					t.Errorf("%s: %s matches a method that is %s: %v", asked.name, value, has.name, got)
				}
			}
		}
	}
}
