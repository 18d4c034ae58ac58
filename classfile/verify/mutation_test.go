package verify_test

import (
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
)

// everything gives the committed and the crafted classes, in a fixed order.
func everything(t testing.TB) (all []*classfile.Class) {
	byName := crafted(t)
	for name, data := range classes(t) {
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		byName[name] = c
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// instrument gives the class with all that the mode asks for, and what the referee is to expect.
func instrument(t testing.TB, m mode, c *classfile.Class) ([]byte, equivalence.Instrumentation, bool) {
	t.Helper()
	in := m.injector()
	request := m.request(in, c)
	request.Focus = focusOf(c)
	if len(request.Methods) == 0 && request.Focus == inject.FocusNone && request.Digest == "" {
		return nil, equivalence.Instrumentation{}, false
	}
	data, err := in.Rewrite(c, request)
	if err != nil {
		t.Fatal(err)
	}
	return data, m.wanted(request), true
}

var mutationStep = flag.Int("mutation-step", 4, "change each so-many-th byte of a class in TestEveryByteCounts")

// TestEveryByteCounts changes the rewritten classes byte by byte. There is no byte that may be another.
func TestEveryByteCounts(t *testing.T) {
	const large, stride = 8192, 501 // of large classes, which are padded with nops, some bytes must do
	accepted, tried := 0, 0
	for _, c := range everything(t) {
		for i, m := range modes {
			data, want, ok := instrument(t, m, c)
			if !ok {
				continue
			}
			step := *mutationStep
			switch {
			case testing.Short() && len(data) > large:
				continue
			case testing.Short():
				step *= 10
			case len(data) > large:
				step = stride
			}
			for at := i % step; at < len(data); at += step {
				changed := slices.Clone(data)
				changed[at] ^= [...]byte{1, 0x80, 0x14}[at%3]
				rewritten, err := classfile.Parse(changed)
				if err != nil {
					continue
				}
				tried++
				if findings := equivalence.Check(c, rewritten, want); len(findings) == 0 {
					accepted++
					t.Errorf("%s, %s: byte %d of %d is %#x, not %#x, and nobody objects", c.Name(), m.name, at, len(data), changed[at], data[at])
				}
			}
		}
	}
	if tried < 4000 {
		t.Errorf("only %d changes tried", tried)
	}
	t.Logf("measured: %d changed bytes, %d not seen", tried, accepted)
}
