package zipfile

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"
)

// plainTexts returns data from which compressors make all kinds of blocks.
func plainTexts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	skewed := make([]byte, 200000) // some symbols take codes of 15 bits
	for i := range skewed {
		skewed[i] = byte(random.ExpFloat64() * 8)
	}
	all := map[string][]byte{"nothing": nil, "a byte": {7}, "noise": noise, "skewed": skewed,
		"one byte repeated": bytes.Repeat([]byte{1}, 100000)}
	for n := 2; n < 12; n++ { // distances below and above the 8 bytes that are copied at once
		all[fmt.Sprintf("%d bytes repeated", n)] = bytes.Repeat(noise[:n], 500)
	}
	seven := bytes.Clone(noise[:600]) // is not stored, as noise is
	for i := range seven {
		seven[i] &= 0x7F
	}
	for n := manyLiterals - 2; n < manyLiterals+3; n++ {
		all[fmt.Sprintf("a match behind %d literals", n)] = slices.Concat(seven[:n], seven[20:70], seven[300:350])
	}
	all["far"] = append(append(append([]byte{}, noise[:32768]...), noise[:300]...), noise[100:2000]...)
	all["text"] = bytes.Repeat([]byte("public static final synchronized void "), 50)
	return all
}

// deflations returns data compressed at every level of two libraries, and the same bytes once.
func deflations(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	packed := map[string][]byte{}
	seen := map[string]bool{}
	put := func(name string, w interface {
		io.WriteCloser
		Flush() error
	}, out *bytes.Buffer) {
		half := len(data) / 2 // with a flush between them: several blocks, an empty one among them
		_, err := w.Write(data[:half])
		if err == nil {
			err = w.Flush()
		}
		if err == nil {
			_, err = w.Write(data[half:])
		}
		if err != nil || w.Close() != nil {
			t.Fatal(name, err)
		}
		if !seen[out.String()] {
			packed[name] = out.Bytes()
		}
		seen[out.String()] = true
	}
	for level := -2; level <= 9; level++ {
		var a, b bytes.Buffer
		w, err := flate.NewWriter(&a, level)
		if err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprint("klauspost ", level), w, &a)
		std, err := stdflate.NewWriter(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprint("standard ", level), std, &b)
	}
	return packed
}

// byLibrary inflates with package flate. ok is false unless the result has that size.
func byLibrary(in []byte, size int) ([]byte, bool) {
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(in)), int64(size)+1))
	return out, err == nil && len(out) == size
}

// TestInflate checks that the inflater inflates everything that compressors write, without package flate.
//
// Invariant: Inflating returns the bytes that package flate returns, and leaves irregular data to that package.
func TestInflate(t *testing.T) {
	var d decoder
	for name, data := range plainTexts() {
		for by, in := range deflations(t, data) {
			for _, more := range []int{0, 1, slack, 2 * slack} {
				out := make([]byte, len(data)+more)
				if !d.inflate(out, len(data), in, nil) || !bytes.Equal(out[:len(data)], data) {
					t.Fatalf("%s by %s, %d bytes of room: not inflated", name, by, more)
				}
				if !d.inflate(out, len(data), append(bytes.Clone(in), 1, 2, 3), nil) {
					t.Errorf("%s by %s: not inflated when more follows", name, by)
				}
				if len(data) > 0 && d.inflate(out, len(data)-1, in, nil) || d.inflate(append(out, 0), len(data)+1, in, nil) {
					t.Errorf("%s by %s: inflated to another size", name, by)
				}
			}
		}
	}
}

// TestInflateDamaged cuts streams and flips bits. What the inflater accepts must be what package flate inflates.
//
// Invariant: Inflating returns the bytes that package flate returns, and leaves irregular data to that package.
func TestInflateDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var d decoder
	var tokens []token
	agreed, refused := 0, 0
	for name, data := range plainTexts() {
		data = data[:min(len(data), 3000)]
		for by, in := range deflations(t, data) {
			out := make([]byte, len(data)+1<<18) // more than most of what damaged streams inflate to
			for cut := range in[:min(len(in), 400)] {
				if d.inflate(out, len(data), in[:len(in)-1-cut], nil) {
					if want, ok := byLibrary(in[:len(in)-1-cut], len(data)); !ok ||
						!bytes.Equal(want, out[:len(data)]) {
						t.Fatalf("%s by %s without its last %d bytes is inflated", name, by, cut+1)
					}
				}
			}
			for range 300 {
				bad := bytes.Clone(in)
				bad[random.IntN(min(len(bad), 200))] ^= 1 << random.IntN(8)
				if !d.inflate(out, len(data), bad, &tokens) {
					refused++
					continue
				}
				agreed++
				if want, ok := byLibrary(bad, len(data)); !ok || !bytes.Equal(want, out[:len(data)]) {
					t.Fatalf("%s by %s: package flate does not inflate it to the same bytes: %x", name, by, bad)
				}
			}
		}
	}
	if agreed < 1000 || refused < 1000 {
		t.Errorf("%d damaged streams are inflated, %d are not", agreed, refused)
	}
}

// FuzzInflate checks that package flate inflates everything that the inflater accepts, to the same bytes.
//
// Invariant: Inflating returns the bytes that package flate returns, and leaves irregular data to that package.
func FuzzInflate(f *testing.F) {
	for _, data := range plainTexts() {
		data = data[:min(len(data), 500)]
		for _, in := range deflations(f, data) {
			f.Add(in, len(data))
		}
	}
	f.Add([]byte{3, 0}, 0)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		if size < 0 || size > 1<<16 {
			return
		}
		var d decoder
		larger, exact := make([]byte, size+slack), make([]byte, size)
		got := d.inflate(larger, size, in, nil)
		var tokens []token
		if slow := d.inflate(exact, size, in, &tokens); slow != got || slow && !bytes.Equal(larger[:size], exact) {
			t.Fatal("the result depends on the size of the buffer")
		}
		want, ok := byLibrary(in, size)
		if got && (!ok || !bytes.Equal(want, exact)) {
			t.Fatalf("%x to %d bytes: package flate does not inflate it to the same bytes", in, size)
		}
	})
}
