package zipfile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// This file builds the archives of the tests byte by byte, so that they can have any fault. It shares no code with
// the package except the constants of the specification.

// part is one entry of a crafted archive. For zero values, it is what an ordinary writer would write.
type part struct {
	name    string
	data    string
	stored  bool
	version uint16 // needed; 0 means 20
	madeBy  uint16
	flags   uint16
	time    uint32 // DOS time, then date
	attrs   uint32
	comment string

	localName    string // "" is the name
	localExtra   []byte
	centralExtra []byte
	descriptor   string // "", "signed", "bare", "signed64", "bare64", "none": bit 3 with sizes in front
	zip64        string // which central fields go into a zip64 extra: u, c, o
	local64      bool   // sizes of the local header in a zip64 extra

	packed  func(data []byte) []byte  // what lies in the archive in place of the compressed data
	after   string                    // bytes behind the entry that belong to no record
	central func(record []byte)       // last changes
	local   func(header, data []byte) // last changes
	at      func(offset uint32) uint32
}

// container is a crafted archive.
type container struct {
	prefix   string
	relative bool // offsets count from the end of the prefix
	parts    []part
	order    []int  // of the central directory, as indices of parts; nil is the order of parts
	between  string // between central directory and end record
	comment  string
	tail     string
	end64    bool
	end      func(record []byte)
	endPlace func(record64, locator []byte)
}

func deflated(data string) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write([]byte(data))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}

func put16(b []byte, v ...uint16) []byte {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func put32(b []byte, v ...uint32) []byte {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func put64(b []byte, v ...uint64) []byte {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// extra returns one extra field.
func extra(id uint16, data ...byte) []byte {
	return append(put16(nil, id, uint16(len(data))), data...)
}

// build returns the bytes of the archive.
func (c container) build() []byte {
	out := []byte(c.prefix)
	records := make([][]byte, len(c.parts))
	base := 0
	if c.relative {
		base = len(c.prefix)
	}
	for i, p := range c.parts {
		out, records[i] = p.build(out, base)
	}
	order := c.order
	if order == nil {
		for i := range records {
			order = append(order, i)
		}
	}
	start := len(out)
	for _, i := range order {
		out = append(out, records[i]...)
	}
	size, offset := uint32(len(out)-start), uint32(start-base)
	out = append(out, c.between...)
	count := uint16(len(order))
	if c.end64 {
		at := len(out) - base
		end := put32(nil, 0x06064b50)
		end = put64(end, 44)
		end = put16(end, 45, 45)
		end = put32(end, 0, 0)
		end = put64(end, uint64(len(order)), uint64(len(order)), uint64(size), uint64(offset))
		locator := put32(nil, 0x07064b50, 0)
		locator = put64(locator, uint64(at))
		locator = put32(locator, 1)
		if c.endPlace != nil {
			c.endPlace(end, locator)
		}
		out = append(append(out, end...), locator...)
		count, size, offset = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
	}
	end := put32(nil, 0x06054b50)
	end = put16(end, 0, 0, count, count)
	end = put32(end, size, offset)
	end = put16(end, uint16(len(c.comment)))
	if c.end != nil {
		c.end(end)
	}
	return append(append(append(out, end...), c.comment...), c.tail...)
}

// build appends the entry to out and returns its central record.
func (p part) build(out []byte, base int) (all, record []byte) {
	at := uint32(len(out) - base)
	data, method := []byte(p.data), uint16(0)
	if !p.stored {
		data, method = deflated(p.data), 8
	}
	if p.packed != nil {
		data = p.packed(data)
	}
	crc, packed, size := crc32.ChecksumIEEE([]byte(p.data)), uint32(len(data)), uint32(len(p.data))
	version, flags := p.version, p.flags
	if version == 0 {
		version = 20
	}
	lcrc, lpacked, lsize := crc, packed, size
	if p.descriptor != "" {
		flags |= 8
		if p.descriptor != "none" {
			lcrc, lpacked, lsize = 0, 0, 0
		}
	}
	lname, lextra := p.name, p.localExtra
	if p.localName != "" {
		lname = p.localName
	}
	if p.local64 {
		lextra = append(extra(1, put64(nil, uint64(lsize), uint64(lpacked))...), lextra...)
		lpacked, lsize = 0xFFFFFFFF, 0xFFFFFFFF
	}
	header := put32(nil, 0x04034b50)
	header = put16(header, version, flags, method)
	header = put32(header, p.time, lcrc, lpacked, lsize)
	header = put16(header, uint16(len(lname)), uint16(len(lextra)))
	header = append(append(header, lname...), lextra...)
	if p.local != nil {
		p.local(header, data)
	}
	out = append(append(out, header...), data...)
	out = append(out, p.buildDescriptor(crc, packed, size)...)
	out = append(out, p.after...)

	if p.at != nil {
		at = p.at(at)
	}
	cextra := p.centralExtra
	var wide []byte
	for _, field := range []struct {
		letter string
		value  *uint32
	}{{"u", &size}, {"c", &packed}, {"o", &at}} {
		if bytes.Contains([]byte(p.zip64), []byte(field.letter)) {
			wide = put64(wide, uint64(*field.value))
			*field.value = 0xFFFFFFFF
		}
	}
	if wide != nil {
		cextra = append(append([]byte(nil), cextra...), extra(1, wide...)...)
	}
	record = put32(nil, 0x02014b50)
	record = put16(record, p.madeBy, version, flags, method)
	record = put32(record, p.time, crc, packed, size)
	record = put16(record, uint16(len(p.name)), uint16(len(cextra)), uint16(len(p.comment)), 0, 1)
	record = put32(record, p.attrs, at)
	record = append(append(append(record, p.name...), cextra...), p.comment...)
	if p.central != nil {
		p.central(record)
	}
	return out, record
}

func (p part) buildDescriptor(crc, packed, size uint32) []byte {
	switch p.descriptor {
	case "signed":
		return put32(nil, 0x08074b50, crc, packed, size)
	case "bare":
		return put32(nil, crc, packed, size)
	case "signed64":
		return put64(put32(nil, 0x08074b50, crc), uint64(packed), uint64(size))
	case "bare64":
		return put64(put32(nil, crc), uint64(packed), uint64(size))
	}
	return nil
}

// classText is data that compresses well and is longer than deflate's window.
var classText = string(bytes.Repeat([]byte("invokestatic dev/tracegen/runtime/AppMethodBeat.i (I)V\n"), 800))

// shapes are archives that must open, with everything that occurs in real jars. whole is true if every byte belongs
// to a record, so that copying all entries results in the same bytes.
var shapes = []struct {
	name  string
	whole bool
	c     container
}{
	{"empty", true, container{}},
	{"empty with prefix and comment", true, container{prefix: "#!/bin/sh\n", comment: "nothing"}},
	{"one stored", true, container{parts: []part{{name: "a.txt", data: "hello", stored: true}}}},
	{"one deflated", true, container{parts: []part{{name: "A.class", data: classText}}}},
	{"plain jar", true, container{comment: "a comment", parts: []part{
		{name: "META-INF/", stored: true, localExtra: extra(0xCAFE), centralExtra: extra(0xCAFE), attrs: 0x10},
		{name: "META-INF/MANIFEST.MF", data: "Manifest-Version: 1.0\r\n\r\n", time: 0x5A21_6C42},
		{name: "com/example/A.class", data: classText, time: 0x5A21_6C42, madeBy: 0x0314, attrs: 0o100644 << 16},
		{name: "empty.txt"},
	}}},
	{"extra fields differ", true, container{parts: []part{
		{name: "A.class", data: "x", localExtra: extra(0x5455, 3, 1, 2, 3, 4, 5, 6, 7, 8),
			centralExtra: extra(0x5455, 3, 1, 2, 3, 4), comment: "why"},
	}}},
	{"aligned with broken padding", true, container{parts: []part{
		{name: "lib/x.so", data: "abcd", stored: true, localExtra: []byte{0, 0, 0}},
		{name: "y", data: "abcd", stored: true, localExtra: extra(0xD935, 4, 0, 0)},
	}}},
	{"descriptors", true, container{parts: []part{
		{name: "signed", data: classText, descriptor: "signed"},
		{name: "bare", data: classText, descriptor: "bare"},
		{name: "signed64", data: classText, descriptor: "signed64", local64: true},
		{name: "bare64", data: classText, descriptor: "bare64", local64: true},
		{name: "none", data: classText, descriptor: "none"},
		{name: "stored", data: "abc", stored: true, descriptor: "signed"},
		{name: "nothing", descriptor: "signed"},
		{name: "nothing64", descriptor: "signed64"},
		{name: "last", data: "x"},
	}}},
	{"odd names", true, container{parts: []part{
		{name: "a/B.class", data: "1"}, {name: "a/b.class", data: "2"}, {name: "A/b.class", data: "3"},
		{name: "\xc3\xbc.txt", data: "4", flags: 1 << 11}, {name: "\x81\xff.txt", data: "5"},
		{name: "\xc3\xbc.txt", data: "6"}, {name: "", data: "7"}, {name: "../../etc/passwd", data: "8"},
		{name: "nul\x00byte", data: "9"},
	}}},
	{"duplicates", true, container{parts: []part{
		{name: "a", data: "first"}, {name: "b", data: "only"}, {name: "a", data: "second"}, {name: "a", data: "third"},
	}}},
	{"prefix counted", true, container{prefix: "#!/bin/sh\nexec java -jar $0\n",
		parts: []part{{name: "a", data: "x"}, {name: "b", data: "y"}}}},
	{"prefix not counted", true, container{prefix: "#!/bin/sh\nexec java -jar $0\n", relative: true,
		parts: []part{{name: "a", data: "x"}, {name: "b", data: "y"}}}},
	{"prefix not counted, zip64", false, container{prefix: "MZ...", relative: true, end64: true,
		parts: []part{{name: "a", data: "x", zip64: "uco"}}}},
	{"prefix that looks like an entry", true, container{prefix: "PK\x03\x04PK\x01\x02PK\x05\x06",
		parts: []part{{name: "a", data: "x"}}}},
	{"bytes behind the end", true, container{comment: "c", tail: "\n\n", parts: []part{{name: "a", data: "x"}}}},
	{"end record in the comment", true, container{comment: "PK\x05\x06 but too short",
		parts: []part{{name: "a", data: "x"}}}},
	{"longest comment", true, container{comment: string(bytes.Repeat([]byte("c"), 0xFFFF)),
		parts: []part{{name: "a", data: "x"}}}},
	{"zip64 fields", true, container{parts: []part{
		{name: "u", data: classText, zip64: "u"}, {name: "c", data: classText, zip64: "c"},
		{name: "o", data: classText, zip64: "o"},
		{name: "uco", data: classText, zip64: "uco", local64: true, centralExtra: extra(0x7075, 1, 2, 3)},
		{name: "unused", data: classText, centralExtra: extra(1, make([]byte, 16)...),
			localExtra: extra(1, make([]byte, 16)...)},
	}}},
	{"zip64 field cut short", true, container{parts: []part{{name: "a", data: "x",
		centralExtra: []byte{1, 0, 16, 0, 1, 2}, localExtra: []byte{1, 0, 16, 0, 1, 2}}}}},
	{"zip64 end", false, container{end64: true, parts: []part{{name: "a", data: classText}}}},
	{"gaps", false, container{parts: []part{{name: "a", data: "x", after: "unused"},
		{name: "b", data: "y", after: "signing block"}}}},
	{"order of the directory", false, container{order: []int{2, 0, 1},
		parts: []part{{name: "a", data: "1"}, {name: "b", data: "2"}, {name: "c", data: "3"}}}},
	{"bytes before the end record", false, container{between: "digital signature",
		parts: []part{{name: "a", data: "x"}}}},
	{"local header without sizes", true, container{parts: []part{{name: "a", data: "x",
		local: func(h, _ []byte) { clear(h[14:26]) }}}}},
	{"foreign method and encryption", true, container{parts: []part{
		{name: "bzip2", data: "x", local: func(h, _ []byte) { h[8] = 12 }, central: func(r []byte) { r[10] = 12 }},
		{name: "secret", data: "x", flags: 1},
		{name: "a", data: "x"},
	}}},
}

// mustNew opens a crafted archive.
func mustNew(t testing.TB, data []byte) *Archive {
	t.Helper()
	a, err := New("test.jar", data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
