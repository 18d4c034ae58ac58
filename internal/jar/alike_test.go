package jar

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
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

// streams returns deflations of data, and one without a flush, which would make a block that is stored.
func streams(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	all := deflations(t, data)
	all["compress/flate, whole"] = deflatedWhole(t, data)
	return all
}

func deflatedWhole(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := stdflate.NewWriter(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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

// inflated returns the data of a stream with their layout.
func inflated(in []byte, size int) *Inflated {
	var d decoder
	i := &Inflated{Data: make([]byte, size)}
	if !d.inflate(i.Data, size, in, &i.layout) {
		return nil
	}
	return i
}

// checkLike checks what a deflater makes of data, by the inflater and by two libraries. It reports whether that is
// anything.
func checkLike(t *testing.T, z *deflater, data, raw []byte, original *Inflated) bool {
	t.Helper()
	out, like := z.like(nil, data, raw, original)
	if !like {
		return false
	}
	if again, _ := new(deflater).like(nil, data, raw, original); !bytes.Equal(again, out) {
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
	count, several := 0, 0
	for name, data := range texts {
		if len(data) < changingEnd {
			continue
		}
		for by, raw := range streams(t, data) {
			original := inflated(raw, len(data))
			end := changingEnd + random.IntN(len(data)-changingEnd)
			changed := [][]byte{data, data[:end], data[:changing], withConstants(data, end, ""),
				withConstants(data, end, "com/example/Runtime"), withConstants(data, len(data), "end"),
				withConstants(data, changingEnd, "begin"), withConstants(data, end, string(texts["noise"][:30000])),
				append([]byte{1}, data...)}
			for i, c := range changed {
				if !t.Run(fmt.Sprint(name, " by ", by, " ", i), func(t *testing.T) {
					if checkLike(t, &z, c, raw, original) {
						count++
						if len(original.layout.blocks) > 1 {
							several++
						}
					}
				}) {
					return
				}
			}
		}
	}
	if count < 500 || several < 20 {
		t.Errorf("%d streams are like an original, %d of them of several blocks", count, several)
	}
}

// TestCompressLikeLastBlock copies a part of the last one of several blocks.
//
// Invariant: What is compressed like an original inflates to its data.
func TestCompressLikeLastBlock(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	data := classLike(random, 3000, 5000)
	raw := deflatedWhole(t, data)
	original := inflated(raw, len(data))
	blocks := make(map[int]bool)
	for end := len(data) - 100; end > len(data)-40000; end -= 999 {
		if !checkLike(t, new(deflater), withConstants(data, end, "more"), raw, original) {
			t.Fatalf("not like its first %d bytes", end)
		}
		_, in, _ := original.layout.lastMark(end)
		blocks[in] = true
	}
	if last := len(original.layout.blocks) - 1; last < 2 || !blocks[last] || !blocks[last-1] {
		t.Errorf("%d blocks, of which the copies end in %v", last+1, blocks)
	}
}

// TestCompressLikeFar repeats bytes just within the greatest distance, and just beyond.
//
// Invariant: What is compressed like an original inflates to its data.
func TestCompressLikeFar(t *testing.T) {
	data := classLike(rand.New(rand.NewPCG(15, 16)), 50, 200)
	raw := deflatedWhole(t, data)
	noise := plainTexts()["noise"]
	for distance := windowSize - 2; distance < windowSize+3; distance++ {
		changed := slices.Concat(data, noise[:distance], noise[:30])
		if !checkLike(t, new(deflater), changed, raw, inflated(raw, len(data))) {
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
			data[8], data[9] = 0xF1, 0xF2        // nowhere else
			copy(data[200:], data[at:at+length]) // a match in the constants
			raw := deflatedWhole(t, data)
			original := inflated(raw, len(data))
			for i := range changingEnd {
				changed := withConstants(data, 2000, "more")
				changed[i]++
				if like := checkLike(t, &z, changed, raw, original); like != (i >= changing) {
					t.Fatalf("%d bytes at %d, byte %d changed: like the original: %v", length, at, i, like)
				}
			}
			if uses := original.layout.uses; uses < 200+length {
				used++
			} else if uses != math.MaxInt {
				t.Fatalf("%d bytes at %d: a match at %d", length, at, uses)
			}
		}
	}
	if used < 80 {
		t.Errorf("%d matches of the changing bytes", used)
	}
}

// TestLayout inflates into buffers of different sizes.
//
// Invariant: Compressed bytes depend on nothing but the data.
func TestLayout(t *testing.T) {
	marks := 0
	for name, data := range plainTexts() {
		for by, in := range streams(t, data) {
			want := inflated(in, len(data))
			for _, more := range []int{1, slack, 2 * slack, 5 * slack} {
				var d decoder
				var got layout
				if !d.inflate(make([]byte, len(data)+more), len(data), in, &got) || !reflect.DeepEqual(got, want.layout) {
					t.Fatalf("%s by %s: the layout depends on %d bytes of room", name, by, more)
				}
			}
			marks += len(want.layout.marks)
		}
	}
	if marks < 1000 {
		t.Errorf("%d marks", marks)
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
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	readByPrograms(t, path)
	extract := exec.Command(needTool(t, "jar"), "xf", path)
	extract.Dir = dir
	if out, err := extract.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
		checkLike(t, &z, rest, raw, original)
		if begin < changingEnd || begin > len(plain) || len(rest) < 2 {
			return
		}
		data := slices.Concat(plain[:changing], rest[:2], plain[changingEnd:begin], rest[2:])
		checkLike(t, &z, data, raw, original)
	})
}
