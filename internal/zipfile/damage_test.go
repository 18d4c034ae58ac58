package zipfile

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// damaged are archives with one fault each. Those with open can be opened; reading their entry 0 fails.
var damaged = []struct {
	name string
	open bool
	c    container
	cut  int // bytes taken off the end
	want string
}{
	{name: "no zip", c: container{end: func(r []byte) { r[0] = 'X' }},
		want: "test.jar: malformed zip: " +
			"no end of central directory record: not a zip file, or cut short (22 bytes); make or fetch it again"},
	{name: "cut in the end record", c: container{parts: []part{{name: "a"}}}, cut: 1,
		want: "no end of central directory record"},
	{name: "cut in the comment", c: container{comment: "comment", parts: []part{{name: "a"}}}, cut: 3,
		want: "archive comment reaches 3 bytes past the end of the file; it is cut short"},
	{name: "directory too big", c: container{parts: []part{{name: "a"}}, end: func(r []byte) { r[14] = 1 }},
		want: "central directory of 65583 bytes at offset 36 does not fit"},
	{name: "directory offset too big", c: container{parts: []part{{name: "a"}}, end: func(r []byte) { r[18] = 1 }},
		want: "at offset 65572 does not fit"},
	{name: "directory elsewhere", c: container{parts: []part{{name: "a"}}, end: func(r []byte) { r[16]++; r[12]-- }},
		want: "no central directory where the end record says, at offset 37"},
	{name: "zip64 record missing", c: container{end64: true, parts: []part{{name: "a"}},
		endPlace: func(e, _ []byte) { e[0] = 0 }},
		want: "no zip64 end of central directory record where its locator says"},
	{name: "zip64 directory beyond all bounds", c: container{end64: true, parts: []part{{name: "a"}},
		endPlace: func(e, _ []byte) {
			binary.LittleEndian.PutUint64(e[40:], 1<<63+1)
		}}, want: "does not fit before its end record"},
	{name: "zip64 locator beyond all bounds", c: container{end64: true, parts: []part{{name: "a"}},
		endPlace: func(e, l []byte) {
			e[0] = 0
			binary.LittleEndian.PutUint64(l[8:], 1<<64-1)
		}}, want: "no zip64 end of central directory record where its locator says"},
	{name: "too few records", c: container{parts: []part{{name: "a"}}, end: func(r []byte) { r[10] = 2 }},
		want: "central directory has 1 records, its end record says 2"},
	{name: "too many records", c: container{parts: []part{{name: "a"}, {name: "b"}}, end: func(r []byte) { r[10] = 1 }},
		want: "central directory has 2 records, its end record says 1"},
	{name: "record longer than the directory", c: container{parts: []part{{name: "a",
		central: func(r []byte) { r[28] = 9 }}}},
		want: "test.jar: at 0x24: malformed zip: central record 0 reaches 8 bytes past the central directory"},
	{name: "zip64 extra too short", c: container{parts: []part{{name: "a", centralExtra: extra(1, 0, 0),
		central: func(r []byte) { copy(r[24:], "\xff\xff\xff\xff") }}}},
		want: "test.jar!a: at 0x24: malformed zip: zip64 extra field is too short"},
	{name: "offset past the directory", c: container{parts: []part{{name: "a", at: func(uint32) uint32 { return 34 }}}},
		want: "test.jar!a: at 0x24: malformed zip: " +
			"local header at offset 34 is not before the central directory at 36"},
	{name: "offset beyond all bounds", c: container{parts: []part{{name: "a", zip64: "o", central: func(r []byte) {
		binary.LittleEndian.PutUint64(r[len(r)-8:], 1<<64-1)
	}}}}, want: "is not before the central directory"},
	{name: "no local header", c: container{parts: []part{{name: "a", local: func(h, _ []byte) { h[3] = 0 }}}},
		want: "test.jar!a: at 0x0: malformed zip: no local header where the central directory says"},
	{name: "local header too long", c: container{parts: []part{{name: "a", local: func(h, _ []byte) { h[29] = 1 }}}},
		want: "local header reaches into the central directory"},
	{name: "data cut short", c: container{parts: []part{{name: "a", data: "abc", stored: true,
		central: func(r []byte) { r[20] = 4 }}}},
		want: "4 bytes of data where only 3 are left before the central directory"},
	{name: "empty with bytes behind", c: container{tail: "x"},
		want: "end record of an empty archive with 1 bytes behind it"},
	{name: "directory of one byte", c: container{parts: []part{{name: "a"}}, tail: "x",
		end: func(r []byte) { r[10], r[12] = 0, 1 }},
		want: "central directory of 1 bytes is too short for an entry"},
	{name: "two names for one entry", c: container{order: []int{0, 0}, parts: []part{{name: "a", data: "x"}}},
		want: "test.jar!a: at 0x0: malformed zip: " +
			"overlaps entry a, which lies at 0x0 to 0x26; refusing what may be a zip bomb"},
	{name: "nested entries", c: container{order: []int{1, 0}, parts: []part{
		{name: "a", data: "x", stored: true, central: func(r []byte) { r[20] = 9 }}, {name: "b", data: "x"}}},
		want: "test.jar!b: at 0x20: malformed zip: overlaps entry a"},

	{name: "other local name", open: true, c: container{parts: []part{{name: "a", localName: "b"}}},
		want: "test.jar!a: at 0x0: malformed zip: local header has the name b"},
	{name: "unprintable name", open: true, c: container{parts: []part{{name: "a\x1b[2J", localName: "b\n"}}},
		want: `test.jar!"a\x1b[2J": at 0x0: malformed zip: local header has the name "b\n"`},
	{name: "other local method", open: true, c: container{parts: []part{{name: "a", data: "x",
		local: func(h, _ []byte) { h[8] = 0 }}}},
		want: "compression method 0 in the local header, 8 in the central directory"},
	{name: "other encryption", open: true, c: container{parts: []part{{name: "a",
		local: func(h, _ []byte) { h[6] = 1 }}}},
		want: "disagree on encryption"},
	{name: "other local size", open: true, c: container{parts: []part{{name: "a", data: "x",
		local: func(h, _ []byte) { h[22] = 7 }}}},
		want: "local header says CRC 8cdc1683, 7 bytes"},
	{name: "other local crc", open: true, c: container{parts: []part{{name: "a", data: "x",
		local: func(h, _ []byte) { h[14] = 1 }}}},
		want: "local header says CRC 8cdc1601"},
	{name: "descriptor missing", open: true, c: container{parts: []part{{name: "a", data: "x", descriptor: "gone"}}},
		want: "data descriptor is missing or disagrees"},
	{name: "stored with another size", open: true, c: container{parts: []part{{name: "a", data: "x", stored: true,
		local: func(h, _ []byte) { h[22] = 2 }, central: func(r []byte) { r[24] = 2 }}}},
		want: "test.jar!a: at 0x1f: malformed zip: stored with 1 bytes, declared 2"},
	{name: "crc", open: true, c: container{parts: []part{{name: "a", data: "x", stored: true,
		local: func(_, d []byte) { d[0] = 'y' }}}},
		want: "test.jar!a: at 0x1f: malformed zip: " +
			"CRC of the data is fbdb2615, declared 8cdc1683; the entry is damaged"},
	{name: "no deflate", open: true, c: container{parts: []part{{name: "a", data: classText,
		local: func(_, d []byte) { d[0] = 7 }}}},
		want: "malformed zip: inflate: flate: corrupt input"},
	{name: "deflate cut short", open: true, c: container{parts: []part{{name: "a", data: classText,
		local: func(h, _ []byte) { clear(h[14:26]) }, central: func(r []byte) { r[20] -= 20 }}}},
		want: "malformed zip: inflate: data ends after"},
	{name: "more than declared", open: true, c: container{parts: []part{{name: "a", data: classText,
		local: func(h, _ []byte) { clear(h[14:26]) }, central: func(r []byte) { r[24]-- }}}},
		want: "inflate: data inflates to more than the declared 43999 bytes"},
	{name: "less than declared", open: true, c: container{parts: []part{{name: "a", data: classText,
		local: func(h, _ []byte) { clear(h[14:26]) }, central: func(r []byte) { r[24]++ }}}},
		want: "inflate: data ends after 44000 of the declared 44001 bytes"},
	{name: "cannot be that big", open: true, c: container{parts: []part{{name: "a", data: "x",
		local: func(h, _ []byte) { clear(h[14:26]) }, central: func(r []byte) { r[27] = 0x7F }}}},
		want: "7 bytes cannot inflate to the declared 2130706433"},
	{name: "zip64 size beyond all bounds", open: true,
		c: container{parts: []part{{name: "a", data: "x", zip64: "u", central: func(r []byte) {
			binary.LittleEndian.PutUint64(r[len(r)-8:], 1<<64-1)
		}, local: func(h, _ []byte) { clear(h[14:26]) }}}},
		want: "7 bytes cannot inflate to the declared 18446744073709551615"},
}

// Invariant: No archive makes the reader panic, or allocate more than its size allows.
func TestDamage(t *testing.T) {
	for _, test := range damaged {
		t.Run(test.name, func(t *testing.T) {
			in := test.c.build()
			a, err := New("test.jar", in[:len(in)-test.cut])
			if test.open {
				if err != nil {
					t.Fatalf("does not open: %v", err)
				}
				_, err = new(Codec).Read(&a.Entries()[0], nil)
			}
			var where *Error
			if !errors.Is(err, ErrFormat) || !errors.As(err, &where) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q\nwant %q", err, test.want)
			}
		})
	}
}

// TestEveryCut cuts an archive at every place. None may be accepted, and none may cause a panic.
//
// Invariant: No archive makes the reader panic, or allocate more than its size allows.
func TestEveryCut(t *testing.T) {
	in := container{comment: "c", parts: []part{{name: "a", data: classText},
		{name: "b", data: "x", descriptor: "signed"}}}.build()
	for n := range in {
		if _, err := New("test.jar", in[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("first %d of %d bytes: error %v", n, len(in), err)
		}
	}
}

// TestModestMemory reads entries with a great declared size and checks that little memory is allocated, in
// proportion to the data that is there.
//
// Invariant: No archive makes the reader panic, or allocate more than its size allows.
func TestModestMemory(t *testing.T) {
	// 200,000 bytes that start with a valid stream which ends early, declared with the greatest possible size.
	junk := append(deflated(classText), make([]byte, 200_000)...)
	claim := uint32(len(junk)) * maxExpansion
	in := container{parts: []part{{name: "a", data: string(junk), stored: true,
		local: func(h, _ []byte) { clear(h[14:26]); h[8] = 8 },
		central: func(r []byte) {
			r[10] = 8
			binary.LittleEndian.PutUint32(r[24:], claim)
		}}}}.build()
	a := mustNew(t, in)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := new(Codec).Read(&a.Entries()[0], nil)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "data ends after 44000 of the declared") {
		t.Errorf("error %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes of memory for an entry of %d bytes", used, len(junk))
	}

	// The declared number of entries must not be trusted either.
	in = container{end64: true, parts: []part{{name: "a"}}, endPlace: func(e, _ []byte) {
		binary.LittleEndian.PutUint64(e[32:], 1<<40)
	}}.build()
	runtime.ReadMemStats(&before)
	_, err = New("test.jar", in)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrFormat) || after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("error %v, %d bytes of memory", err, after.TotalAlloc-before.TotalAlloc)
	}
}
