package equivalence_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// Invariant: Removing the calls from an instrumented class returns the bytes of the original: strip(inject(x)) = x.
func TestRoundTrip(t *testing.T) {
	for _, m := range crafted.Modes {
		t.Run(m.Name, func(t *testing.T) {
			in, traced := m.Injector(), 0
			for name, data := range crafted.Committed(t) {
				c, err := classfile.Parse(data)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				n, err := m.RoundTrip(in, c, m.Request(in, c))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				traced += n
			}
			if traced < 70 {
				t.Errorf("only %d methods traced", traced)
			}
		})
	}
}

// TestCorpusRoundTrip puts every method that the injector takes, of every class of released jars, to the
// equivalence check, in all modes.
//
// Invariant: Removing the calls from an instrumented class returns the bytes of the original: strip(inject(x)) = x.
func TestCorpusRoundTrip(t *testing.T) {
	nightly.Only(t, "classes")
	jars := corpus.NeedAll(t)
	for _, m := range crafted.Modes {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			in, classes, traced := m.Injector(), 0, 0
			for _, jar := range jars {
				oracle.EachClass(t, jar.Classes, func(name string, data []byte) {
					c, err := classfile.Parse(data)
					if err != nil {
						return
					}
					n, err := m.RoundTrip(in, c, m.Request(in, c))
					if err != nil {
						t.Errorf("%s!%s: %v", jar.Name, name, err)
					}
					classes++
					traced += n
				})
			}
			t.Logf("measured: %s: %d jars, %d classes, %d methods traced, equivalent and stripped to what they were",
				m.Name, len(jars), classes, traced)
		})
	}
}

func TestRoundTripCrafted(t *testing.T) {
	for name, c := range crafted.Classes(t) {
		for _, m := range crafted.Modes {
			t.Run(name+" "+m.Name, func(t *testing.T) {
				in := m.Injector()
				request := m.Request(in, c)
				if request.Digest == "" && len(request.Methods) != len(c.Methods()) {
					t.Errorf("%d of %d methods are refused", len(c.Methods())-len(request.Methods), len(c.Methods()))
				}
				request.Focus = crafted.FocusOf(c)
				if _, err := m.RoundTrip(in, c, request); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
