package zipfile

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// classLike returns data that look like a class to a compressor: names of constants, and then code.
func classLike(random *rand.Rand, constants, code int) []byte {
	words := []string{"java", "/lang", "/Object", "String", "(I)V", "get", "Code", "StackMapTable", "com/example"}
	data := []byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, byte(constants >> 8), byte(constants)}
	for i := range constants {
		name := ""
		for range 1 + random.IntN(4) {
			name += words[random.IntN(len(words))]
		}
		data = append(append(data, 1, 0, byte(len(name))), name...)
		data = append(data, 10, byte(i>>8), byte(i), 0, byte(random.IntN(0xF0)))
	}
	for range code {
		data = append(data, 0x2A, 0xB6, 0, byte(random.ExpFloat64()*20), byte(random.IntN(60)))
	}
	return data
}

// withConstants returns data as they are with more constants, which end at an offset, and with changes behind them.
func withConstants(data []byte, end int, more string) []byte {
	changed := slices.Concat(data[:end], []byte(more), data[end:])
	changed[changing] += 1
	changed[changing+1] += 7
	for i := end + len(more); i < len(changed); i += 50 {
		changed[i] ^= 0x11
	}
	return changed
}

// inflated returns the data of a stream with their tokens, nil if the inflater gives up.
func inflated(in []byte, size int) *Inflated {
	var d decoder
	i := &Inflated{Data: make([]byte, size)}
	if !d.inflate(i.Data, size, in, &i.tokens) {
		return nil
	}
	return i
}

// checkLike checks what a deflater makes of data, by the inflater and by two libraries. It reports whether that is
// anything.
func checkLike(t *testing.T, z *deflater, data []byte, original *Inflated) bool {
	t.Helper()
	out, like := z.like(data, original)
	if !like {
		return false
	}
	if again, _ := new(deflater).like(data, original); !bytes.Equal(again, out) {
		t.Fatal("the output depends on what the deflater has done before")
	}
	if ours := inflated(out, len(data)); ours == nil || !bytes.Equal(ours.Data, data) {
		t.Fatal("not inflated to the data")
	}
	if got, ok := byLibrary(out, len(data)); !ok || !bytes.Equal(got, data) {
		t.Fatal("not inflated to the data by klauspost/compress")
	}
	in := bytes.NewReader(out)
	if got, err := io.ReadAll(stdflate.NewReader(in)); err != nil || !bytes.Equal(got, data) || in.Len() != 0 {
		t.Fatalf("not inflated to the data by compress/flate: %v, %d bytes left", err, in.Len())
	}
	return true
}

// TestCompressLike changes data that every compressor has deflated, and deflates them again by the original stream.
//
// Invariant: What is compressed like an original inflates to its data.
func TestCompressLike(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	texts := plainTexts()
	for _, size := range []int{2, 20, 200, 4000} {
		texts[fmt.Sprintf("class with %d constants", size)] = classLike(random, size, 3*size)
	}
	var z deflater
	count := 0
	for name, data := range texts {
		if len(data) < changingEnd {
			continue
		}
		for by, raw := range deflations(t, data) {
			original := inflated(raw, len(data))
			end := changingEnd + random.IntN(len(data)-changingEnd)
			changed := [][]byte{data, data[:end], data[:changing], withConstants(data, end, ""),
				withConstants(data, end, "com/example/Runtime"), withConstants(data, len(data), "end"),
				withConstants(data, changingEnd, "begin"), withConstants(data, end, string(texts["noise"])),
				append([]byte{1}, data...)}
			for i, c := range changed {
				if !t.Run(fmt.Sprint(name, " by ", by, " ", i), func(t *testing.T) {
					if checkLike(t, &z, c, original) {
						count++
					}
				}) {
					return
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("%d streams are like an original", count)
	}
}

// TestCompressLikeFar repeats bytes just within the greatest distance, and just beyond.
//
// Invariant: What is compressed like an original inflates to its data.
func TestCompressLikeFar(t *testing.T) {
	data := classLike(rand.New(rand.NewPCG(15, 16)), 50, 200)
	original := inflated([]byte(deflated(string(data))), len(data))
	noise := plainTexts()["noise"]
	for distance := windowSize - 2; distance < windowSize+3; distance++ {
		changed := slices.Concat(data, noise[:30], make([]byte, distance-30), noise[:30])
		if !checkLike(t, new(deflater), changed, original) {
			t.Fatal("not like the original")
		}
	}
}

// TestCompressLikeMatch changes bytes that matches refer to.
//
// Invariant: What is compressed like an original inflates to its data.
func TestCompressLikeMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var z deflater
	used := 0
	for at := range changingEnd {
		for length := 3; length < 20; length++ {
			data := classLike(random, 300, 300)
			data[8], data[9] = 0xF1, 0xF2 // nowhere else
			copy(data[200:], data[at:at+length])
			original := inflated(deflated(string(data)), len(data))
			for i := range changingEnd {
				changed := withConstants(data, 2000, "more")
				changed[i]++
				if like := checkLike(t, &z, changed, original); like != (i >= changing) {
					t.Fatalf("%d bytes at %d, byte %d changed: like the original: %v", length, at, i, like)
				}
			}
			begin := 0
			for _, token := range original.tokens {
				begin += token.literals()
				if from := begin - token.distance(); token.hasMatch() && from < changingEnd && from+token.length() > changing {
					used++
				}
				begin += token.length()
			}
		}
	}
	if used < 80 {
		t.Errorf("%d matches of the changing bytes", used)
	}
}

// TestTokens puts data together from their tokens, which are the same whatever buffer the data are inflated to.
//
// Invariant: Compressed bytes depend on nothing but the data.
func TestTokens(t *testing.T) {
	count := 0
	for name, data := range plainTexts() {
		for by, in := range deflations(t, data) {
			want := inflated(in, len(data)).tokens
			for _, more := range []int{1, slack, 2 * slack, 5 * slack} {
				var d decoder
				var got []token
				if !d.inflate(make([]byte, len(data)+more), len(data), in, &got) || !slices.Equal(got, want) {
					t.Fatalf("%s by %s: the tokens depend on %d bytes of room", name, by, more)
				}
			}
			count += len(want)
			var again []byte
			for _, token := range want {
				again = append(again, data[len(again):len(again)+token.literals()]...)
				for range token.length() {
					if token.hasMatch() {
						again = append(again, again[len(again)-token.distance()])
					}
				}
			}
			if !bytes.HasPrefix(data, again) {
				t.Fatalf("%s by %s: the tokens are of other data", name, by)
			}
		}
	}
	if count < 10000 {
		t.Errorf("%d tokens", count)
	}
	data := classLike(rand.New(rand.NewPCG(13, 14)), 500, 500)
	var d decoder
	var tokens []token
	if d.inflate(make([]byte, len(data)), 10, deflated(string(data)), &tokens) {
		t.Error("inflated to fewer bytes than there are")
	}
}

// TestCompressLikeJDK has the JDK extract an archive.
//
// Invariant: Other programs read the archives that are written.
func TestCompressLikeJDK(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var parts []part
	for i := range 100 {
		parts = append(parts, part{name: fmt.Sprint(i, ".class"), data: string(classLike(random, 10+10*i, 500))})
	}
	a := mustNew(t, container{parts: parts}.build())
	var codec Codec
	var out bytes.Buffer
	w := NewWriter(&out, a)
	var want [][]byte
	for i := range a.Entries() {
		e := &a.Entries()[i]
		var original Inflated
		if err := codec.Inflate(e, &original); err != nil {
			t.Fatal(err)
		}
		data := withConstants(original.Data, 50+len(original.Data)/2, "com/example/Runtime")
		want = append(want, data)
		p, err := codec.CompressLike(data, e, &original, LevelDefault)
		if err != nil || p.Method != Deflated || p.CRC32 != crc32.ChecksumIEEE(data) || p.Size != uint64(len(data)) {
			t.Fatalf("%+v, %v", p, err)
		}
		if anew, err := codec.Compress(data, LevelDefault); err != nil || bytes.Equal(anew.Data, p.Data) {
			t.Fatalf("%s is not compressed like its original: %v", e.Name, err)
		}
		if err := w.Replace(e, p); err != nil {
			t.Fatal(err)
		}
		codec.Recycle(p)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jar")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, path, out.Bytes())
	readByPrograms(t, path)
	extract := exec.Command(needTool(t, "jar"), "xf", path)
	extract.Dir = dir
	fixture.Run(t, extract)
	for i, data := range want {
		if got, err := os.ReadFile(filepath.Join(dir, parts[i].name)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: other bytes: %v", parts[i].name, err)
		}
	}
}

// FuzzCompressLike deflates any data by any stream: data that begin as those of the stream, up to some length, and
// continue otherwise.
//
// Invariant: What is compressed like an original inflates to its data.
func FuzzCompressLike(f *testing.F) {
	data := classLike(rand.New(rand.NewPCG(11, 12)), 20, 50)
	for _, in := range deflations(f, data) {
		f.Add(in, 400, []byte{8: 1, 9: 2, 10: 3})
	}
	f.Fuzz(func(t *testing.T, raw []byte, begin int, rest []byte) {
		plain, err := io.ReadAll(io.LimitReader(stdflate.NewReader(bytes.NewReader(raw)), 1<<18))
		original := inflated(raw, len(plain))
		if err != nil || original == nil {
			return
		}
		var z deflater
		checkLike(t, &z, rest, original)
		if begin < changingEnd || begin > len(plain) || len(rest) < 2 {
			return
		}
		data := slices.Concat(plain[:changing], rest[:2], plain[changingEnd:begin], rest[2:])
		checkLike(t, &z, data, original)
	})
}
