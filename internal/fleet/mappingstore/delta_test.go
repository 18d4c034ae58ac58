package mappingstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// edited returns the lines of a text with some removed, changed, moved and added, and perhaps without the last newline.
func edited(rng *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	var out []string
	for _, line := range lines {
		switch rng.IntN(20) {
		case 0:
		case 1:
			out = append(out, "new "+line)
		case 2:
			out = append(out, lines[rng.IntN(len(lines))])
		case 3:
			out = append(out, line, line)
		default:
			out = append(out, line)
		}
	}
	joined := strings.Join(out, "")
	if rng.IntN(3) == 0 {
		joined = strings.TrimSuffix(joined, "\n")
	}
	return joined
}

// Invariant: A file that is stored as a difference is read back byte for byte.
func TestDifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(60) {
			fmt.Fprintf(&b, "line %d\n", rng.IntN(40)) // many are there several times
		}
		base := b.String()
		text := edited(rng, base)
		switch rng.IntN(10) {
		case 0:
			base = ""
		case 1:
			text = ""
		}
		diff := difference([]byte(base), []byte(text))
		got, err := patch([]byte(base), diff, int64(len(text)))
		if err != nil || string(got) != text {
			t.Fatalf("base %q, text %q: %q, %v", base, text, got, err)
		}
	}
}

// TestDifferenceIsSmall checks that a copy costs a few bytes, wherever it is from.
func TestDifferenceIsSmall(t *testing.T) {
	var base, text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&base, "%d,1,com.example.Class%d method ()V\n", i, i)
		if i%100 == 0 {
			fmt.Fprintf(&text, "%d,1,com.example.Added method ()V\n", i)
		}
		fmt.Fprintf(&text, "%d,1,com.example.Class%d method ()V\n", i, i)
	}
	diff := difference([]byte(base.String()), []byte(text.String()))
	if len(diff) > 100*(len("9900,1,com.example.Added method ()V\n")+6) {
		t.Errorf("%d bytes for 100 new lines", len(diff))
	}
	// The end of the base becomes the begin of the text.
	half := base.Len() / 2
	half += strings.IndexByte(base.String()[half:], '\n') + 1
	turned := base.String()[half:] + base.String()[:half]
	if diff := difference([]byte(base.String()), []byte(turned)); len(diff) > 30 {
		t.Errorf("%d bytes for a move", len(diff))
	}
}

func TestPatchRefuses(t *testing.T) {
	base, text := []byte("a\nb\nc\n"), []byte("c\nx\na\n")
	diff := difference(base, text)
	for name, test := range map[string]struct {
		base, diff []byte
		size       int64
	}{
		"empty":      {base, nil, 6},
		"too long":   {base, diff, 5},
		"too short":  {base, diff, 7},
		"cut off":    {base, diff[:len(diff)-1], 6},
		"more":       {base, append(bytes.Clone(diff), 'x'), 6},
		"other base": {base[:2], diff, 6},
		"no copies":  {base, []byte{200}, 6},
	} {
		if got, err := patch(test.base, test.diff, test.size); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzDifference(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc\n"))
	f.Add([]byte(""), []byte("a"))
	f.Add([]byte("a\na\na\nb\n"), []byte("b\na\na"))
	f.Fuzz(func(t *testing.T, base, text []byte) {
		got, err := patch(base, difference(base, text), int64(len(text)))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
	})
}

func FuzzObject(f *testing.F) {
	base, text := []byte("a\nb\nc\n"), []byte("a\nx\nc\n")
	full, err := encodeFull(text)
	if err != nil {
		f.Fatal(err)
	}
	diff, err := encodeDifference(base, sumOf(base), text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add(diff)
	f.Add([]byte("tracegen-object 2 full 0 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseObject(data)
		if err != nil || o.size > 1<<20 || o.body > 1<<20 {
			return
		}
		if got, err := o.decode(base); err == nil && int64(len(got)) != o.size {
			t.Fatalf("%d bytes, want %d", len(got), o.size)
		}
	})
}
