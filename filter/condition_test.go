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
		name   string
		method uint16
		loop   bool
	}{{name: "synchronized", method: 0x20}, {name: "loop", loop: true}}
	for _, has := range traits {
		class := assembly.Class{Name: "a/A", Access: 0x20, Methods: []assembly.Method{{
			Access: has.method, Name: "f", Descriptor: "()V", Code: "return", Locals: 1}}}
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
