package classpath

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// smallImage returns an image with the class a/B of a module m. Every path leads to one of two locations.
func smallImage(content []byte, packed bool) []byte {
	names := "\x00m\x00a\x00B\x00class\x00packages\x00zip\x00compact-cp\x00"
	locations := []byte{0}
	attribute := func(kind, value int) {
		locations = append(locations, byte(kind<<3|3), 0, byte(value>>16), byte(value>>8), byte(value))
	}
	class := len(locations)
	for kind, value := range map[int]int{imageModule: 1, imageParent: 3, imageBase: 5, imageExtension: 7,
		imageOffset: 8, imageSize: len(content)} {
		attribute(kind, value)
	}
	if packed {
		attribute(imageCompressed, len(content))
	}
	locations = append(locations, 0)
	listed := len(locations)
	for kind, value := range map[int]int{imageModule: 13, imageBase: 3, imageOffset: 0, imageSize: 8} {
		attribute(kind, value)
	}
	locations = append(locations, 0)
	const length = 2
	redirects, offsets := make([]byte, 4*length), make([]byte, 4*length)
	for path, index := range map[string]int{"/packages/a": 0, "/m/a/B.class": 1} {
		at := imageHash(path, imageSeed) % length
		binary.BigEndian.PutUint32(redirects[4*at:], uint32(int32(-1-index)))
	}
	binary.BigEndian.PutUint32(offsets, uint32(listed))
	binary.BigEndian.PutUint32(offsets[4:], uint32(class))
	data := binary.BigEndian.AppendUint32(nil, imageMagic)
	data = append(data, make([]byte, 12)...)
	for _, n := range []int{length, len(locations), len(names)} {
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	data = append(data, redirects...)
	data = append(data, offsets...)
	data = append(data, locations...)
	data = append(data, names...)
	data = append(data, 0, 0, 0, 0, 0, 0, 0, 1)
	return append(data, content...)
}

// packedResource returns a compressed resource; name is where the name of the method is among the names.
func packedResource(name, unpacked int, content []byte) []byte {
	data := binary.BigEndian.AppendUint32(nil, packedMagic)
	data = binary.BigEndian.AppendUint64(data, uint64(len(content)))
	data = binary.BigEndian.AppendUint64(data, uint64(unpacked))
	data = binary.BigEndian.AppendUint32(data, uint32(name))
	return append(append(data, make([]byte, packedHeader-len(data))...), content...)
}

// FuzzImage reads a class from any bytes as the image of a JDK.
//
// Invariant: No bytes make the reader of a JDK's image panic, or allocate much more than their size.
func FuzzImage(f *testing.F) {
	f.Add(smallImage([]byte("a class"), false))
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte("a class"))
	w.Close()
	f.Add(smallImage(packedResource(22, 7, b.Bytes()), true))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "modules")
		fixture.Write(t, file, data)
		least, limit := uint64(1<<62), uint64(1<<21+2000*len(data))
		for run := 0; run < 5 && least > limit; run++ {
			least = min(least, allocated(func() {
				m, err := openImage(file)
				if err != nil {
					return
				}
				_, _ = m.class("a/B", nil)
				m.Close()
			}))
		}
		if least > limit {
			t.Errorf("%d bytes allocated for %d", least, len(data))
		}
	})
}

func allocated(run func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	run()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// TestImageIsRead: the image of the fuzz target has the class, plain and compressed.
func TestImageIsRead(t *testing.T) {
	read := func(data []byte) (string, error) {
		file := filepath.Join(t.TempDir(), "modules")
		fixture.Write(t, file, data)
		m, err := openImage(file)
		if err != nil {
			return "", err
		}
		defer m.Close()
		got, err := m.class("a/B", nil)
		return string(got), err
	}
	if got, err := read(smallImage([]byte("a class"), false)); got != "a class" || err != nil {
		t.Errorf("plain: %q (%v)", got, err)
	}
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte("a class"))
	w.Close()
	if got, err := read(smallImage(packedResource(22, 7, b.Bytes()), true)); got != "a class" || err != nil {
		t.Errorf("compressed: %q (%v)", got, err)
	}
	if got, err := read(smallImage(packedResource(26, 7, b.Bytes()), true)); err == nil ||
		!strings.Contains(err.Error(), `by "compact-cp", which is not supported`) {
		t.Errorf("compressed in another way: %q (%v)", got, err)
	}
}

// TestShortenedImage: an image that another program shortens while it is open is an error, whether its index is mapped
// or was read.
func TestShortenedImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "modules")
	fixture.Write(t, file, smallImage([]byte("a class"), false))
	m, err := openImage(file)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Truncate(file, 0); err != nil {
		t.Skipf("an open file cannot be shortened here: %v", err)
	}
	if got, err := m.class("a/B", nil); err == nil {
		t.Errorf("%q and no error", got)
	}
}
