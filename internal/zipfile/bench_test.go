package zipfile

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchJar returns a jar with entries of the size of classes, about 30 MB inflated. TRACEGEN_BENCH_JAR may name a
// real jar instead.
func benchJar(b *testing.B) *Archive {
	path := os.Getenv("TRACEGEN_BENCH_JAR")
	if path == "" {
		random := rand.New(rand.NewPCG(1, 2))
		words := strings.Fields("java lang Object String init Code StackMapTable com example onCreate android " +
			"os Bundle V I Z")
		var parts []part
		for range 4000 {
			var text strings.Builder
			for text.Len() < 2000+random.IntN(10_000) {
				text.WriteString(words[random.IntN(len(words))])
				text.WriteByte(byte(random.IntN(256)))
			}
			parts = append(parts, part{name: "com/example/Some.class", data: text.String()})
		}
		path = filepath.Join(b.TempDir(), "bench.jar")
		if err := os.WriteFile(path, container{parts: parts}.build(), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	a, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	b.ResetTimer()
	return a
}

func inflatedSize(a *Archive) (n int64) {
	for i := range a.Entries() {
		n += int64(a.Entries()[i].Size)
	}
	return n
}

func BenchmarkOpen(b *testing.B) {
	a := benchJar(b)
	b.SetBytes(a.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New("bench.jar", a.data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	a := benchJar(b)
	b.SetBytes(a.Size())
	b.ReportAllocs()
	for b.Loop() {
		copyAll(b, io.Discard, a)
	}
}

// BenchmarkCopyToFile includes opening, mapping and the temporary file, but not Sync, whose time depends on the
// disk.
func BenchmarkCopyToFile(b *testing.B) {
	a := benchJar(b)
	out := filepath.Join(b.TempDir(), "out.jar")
	b.SetBytes(a.Size())
	b.ReportAllocs()
	for b.Loop() {
		in, err := Open(a.Name())
		if err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(out)
		if err != nil {
			b.Fatal(err)
		}
		copyAll(b, f, in)
		f.Close()
		in.Close()
	}
}

func copyAll(b *testing.B, out io.Writer, a *Archive) {
	w := NewWriter(out, a)
	for i := range a.Entries() {
		if err := w.Copy(&a.Entries()[i]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkInflate(b *testing.B) {
	a := benchJar(b)
	b.SetBytes(inflatedSize(a))
	b.ReportAllocs()
	var codec Codec
	var buf []byte
	for b.Loop() {
		for i := range a.Entries() {
			var err error
			if buf, err = codec.Read(&a.Entries()[i], buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkRewrite inflates, deflates and writes every entry in one goroutine. It also reports the size of the
// output as a part of the input's.
func BenchmarkRewrite(b *testing.B) {
	for level := range levelCount {
		b.Run(level.String(), func(b *testing.B) {
			a := benchJar(b)
			b.SetBytes(inflatedSize(a))
			b.ReportAllocs()
			var codec Codec
			var buf []byte
			var written int64
			for b.Loop() {
				written = 0
				count := writerFunc(func(p []byte) (int, error) { written += int64(len(p)); return len(p), nil })
				w := NewWriter(count, a)
				for i := range a.Entries() {
					e := &a.Entries()[i]
					var err error
					if buf, err = codec.Read(e, buf); err != nil {
						b.Fatal(err)
					}
					p, err := codec.Compress(buf, level)
					if err != nil {
						b.Fatal(err)
					}
					if err := w.Replace(e, p); err != nil {
						b.Fatal(err)
					}
					codec.Recycle(p)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*float64(written)/float64(a.Size()), "%size")
		})
	}
}
