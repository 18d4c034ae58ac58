package equivalence_test

import (
	"bytes"
	"flag"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

var mutationStep = flag.Int("mutation-step", 4, "change each so-many-th byte of a class in TestEveryByteCounts")

// TestEveryByteCounts changes the rewritten classes byte by byte. There is no byte that may be another.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestEveryByteCounts(t *testing.T) {
	const large, stride = 8192, 501 // of large classes, which are padded with nops, some bytes must do
	accepted, tried := 0, 0
	for _, c := range crafted.All(t) {
		for i, m := range crafted.Modes {
			data, want, ok := m.Instrument(t, c)
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
					t.Errorf("%s, %s: byte %d of %d is %#x, not %#x, and there is no finding", c.Name(), m.Name, at,
						len(data), changed[at], data[at])
				}
			}
		}
	}
	if tried < 4000 {
		t.Errorf("only %d changes tried", tried)
	}
	t.Logf("measured: %d changed bytes, %d not seen", tried, accepted)
}

// TestEveryByteOfLargeCode tries all types of a frame, 0 to 8, for each byte of the Code attributes of large classes,
// except for most of the nops. TestEveryByteCounts changes few of these bytes, and large classes are those with widened
// branches and added frames.
func TestEveryByteOfLargeCode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const large, nops = 8192, 4001
	for _, c := range crafted.All(t) {
		// The frames that widened branches need are the same in all modes. The first one is checked fastest.
		data, want, ok := crafted.Modes[0].Instrument(t, c)
		if ok && len(data) > large {
			t.Run(c.Name(), func(t *testing.T) {
				t.Parallel()
				tryTypes(t, c, data, want, codeBytes(t, data, nops))
			})
		}
	}
}

// tryTypes puts all types of a frame at each of these offsets of an instrumented class. Each must be a finding.
func tryTypes(t *testing.T, c *classfile.Class, data []byte, want equivalence.Instrumentation, offsets []int) {
	const types = 9
	var checker equivalence.Checker
	tried := 0
	for _, at := range offsets {
		for v := range byte(types) {
			changed := slices.Clone(data)
			changed[at] = v
			rewritten, err := classfile.Parse(changed)
			if v == data[at] || err != nil {
				continue
			}
			tried++
			if len(checker.Check(c, rewritten, want)) == 0 {
				t.Errorf("byte %d of %d is %d, not %d, and there is no finding", at, len(data), v, data[at])
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d changes tried", tried)
	}
	t.Logf("measured: %d changed bytes", tried)
}

// codeBytes returns the offsets of the bytes of a class's Code attributes. Of those that have only zeros around them,
// which are nops, it returns one in so many.
func codeBytes(t *testing.T, data []byte, nops int) (offsets []int) {
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	const around = 2
	for i := range c.Methods() {
		info, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code")
		if !ok {
			continue
		}
		for at := info.Offset; at < info.Offset+len(info.Info); at++ {
			near := data[at-around : min(at+around+1, len(data))]
			if at%nops == 0 || !bytes.Equal(near, make([]byte, len(near))) {
				offsets = append(offsets, at)
			}
		}
	}
	return offsets
}

// TestMalformedDescriptor: a method's descriptor that ends in the middle of a type is a finding. It was a panic where
// the method had an added frame.
func TestMalformedDescriptor(t *testing.T) {
	c := crafted.Classes(t)["far types"]
	data, want, _ := crafted.Modes[0].Instrument(t, c)
	rewritten, err := classfile.Parse(bytes.Replace(data, []byte("[I)V"), []byte("[[)V"), 1))
	if err != nil {
		t.Fatal(err)
	}
	if len(equivalence.Check(c, rewritten, want)) == 0 {
		t.Error("no finding")
	}
}
