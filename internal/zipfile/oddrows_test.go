package zipfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// oddGroups returns the rows, by what is odd.
func oddGroups() [][]oddArchive {
	return [][]oddArchive{oddTables(), oddFiles(), oddEnds(), oddGaps(), oddNames(), oddDuplicates(), oddHeaders(),
		oddFields(), oddExtras(), oddData(), oddJars(), oddNested()}
}

// oddTables returns a row for each archive of the other tests' tables, with a class that is instrumented behind its
// entries. The tables say what is odd about it.
func oddTables() []oddArchive {
	var rows []oddArchive
	for _, s := range shapes {
		o := oddArchive{name: "shape: " + s.name, data: withClass(s.c), table: true}
		if !s.whole {
			o.output = outStream
		}
		rows = append(rows, o)
	}
	for _, d := range damaged {
		data := withClass(d.c)
		rows = append(rows, oddArchive{name: "damaged: " + d.name, data: data[:len(data)-d.cut], table: true})
	}
	return rows
}

// withClass returns a crafted archive with the class as its last entry.
func withClass(c container) []byte {
	if c.order != nil {
		c.order = append(slices.Clone(c.order), len(c.parts))
	}
	c.parts = append(slices.Clone(c.parts), a())
	return c.build()
}

// Why tracegen does something else than ZipFile.
const (
	whyCount     = "the directory and its end record contradict each other; the archive may be cut or changed"
	whyLost      = "the data of an entry cannot be found; ZipFile fails when the entry is read"
	whyBetween   = "the directory is where the end record says; ZipFile takes the bytes before the end record for its end"
	whyNames     = "a name is bytes and is copied; ZipFile needs UTF-8"
	whyOverlap   = "bytes belong to two entries, as in zip bombs"
	whyInflate   = "a class that cannot be inflated; ZipFile fails when the class is read"
	whyCopied    = "an entry that cannot be read is copied as it is; ZipFile refuses the whole archive"
	whyExtra     = "fields that are not needed and comments are copied and not read"
	whyLimit     = "the declared size is above 64 MiB; the class is copied"
	whyMalformed = "no JVM loads such a class; it is copied"
	whyVersion   = "a class of an unknown version is copied"
	whySigned    = "the signature would be wrong; it is left out, and a warning says so"
	whyManifest  = "the digests must be taken out of the manifest, which is damaged; ZipFile does not compare the CRC"
	whyInside    = "archives of a class path are instrumented in their places"
	whyLibrary   = "an archive of the library cannot be read; ZipFile does not open it"
)

// Why a program reads something else of the output.
const (
	outStream = "ZipInputStream stops at bytes that belong to no entry; the output does not have them"
	outHidden = "ZipInputStream reads the entry; it is not in the directory, and so not in the output"
	outPacked = "ZipInputStream takes the other size; the byte between both is not in the output"
)

// oddClass is a class with a method that is traced.
func oddClass(name string) string {
	return string(assembly.Class{Name: name, Methods: []assembly.Method{{Access: classfile.AccPublic | classfile.AccStatic,
		Name: "work", Descriptor: "()V", Stack: 2,
		Code: "invokestatic java/lang/System.nanoTime()J | pop2 | " +
			"invokestatic java/lang/System.nanoTime()J | pop2 | return"}}}.Bytes())
}

// oddText is the data of an entry that is no class.
const oddText = "a resource of some length, a resource of some length\n"

// a is an entry with the class that javac looks for.
func a() part { return part{name: "odd/A.class", data: oddClass("odd/A")} }

// r is an entry that is no class.
func r() part { return part{name: "odd/r.txt", data: oddText} }

// of returns an archive of the class and these entries.
func of(parts ...part) []byte { return container{parts: append([]part{a()}, parts...)}.build() }

// with returns an archive of these entries.
func with(parts ...part) []byte { return container{parts: parts}.build() }

// usual is an archive of a class and a resource with one change.
func usual(change func(*container)) []byte {
	c := container{parts: []part{a(), r()}}
	change(&c)
	return c.build()
}

// end is the usual archive with another end record.
func end(change func(record []byte)) []byte { return usual(func(c *container) { c.end = change }) }

// named returns an entry like r with that name.
func named(name string) part { return part{name: name, data: oddText} }

// classNamed returns an entry like a with that name.
func classNamed(name string) part { return part{name: name, data: oddClass("odd/A")} }

// Offsets in a local header. In a central record, the same fields are two bytes further.
const (
	atVersion = 4
	atFlags   = 6
	atMethod  = 8
	atTime    = 10
	atDate    = 12
	atCRC     = 14
	atPacked  = 18
	atSize    = 22
	atExtra   = 28
)

// local16 and the following change a field of 2 or 4 bytes in the local header, the central record, or both.
func local16(p part, at int, v uint16) part {
	before := p.local
	p.local = func(h, d []byte) {
		if before != nil {
			before(h, d)
		}
		binary.LittleEndian.PutUint16(h[at:], v)
	}
	return p
}

func central16(p part, at int, v uint16) part {
	before := p.central
	p.central = func(r []byte) {
		if before != nil {
			before(r)
		}
		binary.LittleEndian.PutUint16(r[at:], v)
	}
	return p
}

func local32(p part, at int, v uint32) part {
	return local16(local16(p, at, uint16(v)), at+2, uint16(v>>16))
}

func central32(p part, at int, v uint32) part {
	return central16(central16(p, at, uint16(v)), at+2, uint16(v>>16))
}

func both16(p part, at int, v uint16) part { return central16(local16(p, at, v), at+2, v) }

func both32(p part, at int, v uint32) part { return central32(local32(p, at, v), at+2, v) }

func add32(r []byte, at int, n int) {
	binary.LittleEndian.PutUint32(r[at:], binary.LittleEndian.Uint32(r[at:])+uint32(n))
}

func oddFiles() []oddArchive {
	whole := plainUsual()
	return []oddArchive{
		{name: "ordinary", odd: "a class and a resource, for comparison", data: whole},
		{name: "text", odd: "a text file", data: []byte(oddText)},
		{name: "zeros", odd: "1,024 zeros, as after a crash of the system that wrote it", data: make([]byte, 1024)},
		{name: "class named jar", odd: "a class file with the name of a jar", data: []byte(oddClass("odd/A"))},
		{name: "empty archive", odd: "an end record alone", data: with()},
		{name: "without its first byte", odd: "all offsets are too big by one", data: whole[1:]},
	}
}

func oddEnds() []oddArchive {
	zip64 := func(change func(end, locator []byte)) []byte {
		return usual(func(c *container) { c.end64, c.endPlace = true, change })
	}
	return []oddArchive{
		{name: "count FFFF", odd: "the count asks for zip64 records that are not there",
			differs: whyCount,
			data:    end(func(r []byte) { copy(r[8:], "\xff\xff\xff\xff") })},
		{name: "size beyond the file", odd: "the directory's size is 2 GiB",
			data: end(func(r []byte) { r[15] = 0x80 })},
		{name: "disk 1", odd: "the last of two disks", data: end(func(r []byte) { r[4] = 1 })},
		{name: "entries on disk 1", odd: "the entries begin on another disk",
			data: with(central16(a(), 34, 1), central16(r(), 34, 1))},
		{name: "spanned marker", odd: "the marker of a spanned archive that became one file (8.5.4)",
			data: usual(func(c *container) { c.prefix = "PK00" })},
		{name: "split marker", odd: "the signature of a split archive's first part (8.5.3)",
			data: usual(func(c *container) { c.prefix = "PK\x07\x08" })},
		{name: "zip64 end, plain values too", odd: "zip64 records, and an end record that does not ask for them",
			data: usual(func(c *container) {
				c.end64 = true
				c.end = func(r []byte) {
					records := bytes.Index(plainUsual(), []byte("PK\x01\x02"))
					binary.LittleEndian.PutUint16(r[8:], 2)
					binary.LittleEndian.PutUint16(r[10:], 2)
					binary.LittleEndian.PutUint32(r[12:], uint32(len(plainUsual())-22-records))
					binary.LittleEndian.PutUint32(r[16:], uint32(records))
				}
			})},
		{name: "zip64 record size wrong", odd: "the zip64 end record says that it has 2^32 bytes",
			data: zip64(func(e, _ []byte) { e[8] = 1 })},
		{name: "zip64 version 2", odd: "the zip64 end record needs version 6.2, of encrypted directories",
			data: zip64(func(e, _ []byte) { e[14] = 62 })},
	}
}

func plainUsual() []byte { return usual(func(*container) {}) }

func oddGaps() []oddArchive {
	whole := plainUsual()
	fake := put16(put32(nil, 0x06054b50), 0, 0, 0, 0)
	fake = put16(put32(fake, 0, 0), 0)
	other := string(with(part{name: "odd/other.txt", data: "other"}))
	return []oddArchive{
		{name: "archive in front", odd: "two archives, one behind the other",
			data: append(bytes.Clone(whole), with(named("odd/other.txt"))...)},
		{name: "far too much behind", odd: "70,000 bytes behind the end record, more than a comment can have",
			data: usual(func(c *container) { c.tail = strings.Repeat("x", 70_000) })},
		{name: "cut archive behind", odd: "a second archive behind that has no end",
			data: append(bytes.Clone(whole), whole[:60]...)},
		{name: "comment with an end record", odd: "a whole end record of an empty archive in the comment",
			data: usual(func(c *container) { c.comment = "x" + string(fake) }),
		},
		{name: "comment that is an archive", odd: "a whole archive in the comment",
			data: usual(func(c *container) { c.comment = other })},
		{name: "hidden entry", odd: "an entry that no central record names",
			output: outHidden,
			data:   container{parts: []part{a(), named("odd/hidden.txt"), r()}, order: []int{0, 2}}.build()},
		{name: "hidden class in front", odd: "a class whose central record is missing, in front of all others",
			data: container{parts: []part{a(), r(), named("odd/b.txt")}, order: []int{1, 2}}.build()},
		{name: "signing block", odd: "bytes between the last entry and the directory, as an APK has them",
			data: with(a(), part{name: "odd/r.txt", data: oddText, after: "\x20\x00\x00\x00\x00\x00\x00\x00APK Sig Block 42"})},
		{name: "digital signature counted", odd: "the same, counted in the directory's size",
			differs: whyBetween,
			data: usual(func(c *container) {
				c.between = "PK\x05\x05\x03\x00abc"
				c.end = func(r []byte) { add32(r, 12, 9) }
			})},
	}
}

func oddNames() []oddArchive {
	nested := strings.Repeat("d/", 200)
	return []oddArchive{
		{name: "absolute name", odd: "/odd/x.txt", data: of(named("/odd/x.txt"))},
		{name: "parent", odd: "../../x.txt", data: of(named("../../x.txt"))},
		{name: "parent inside", odd: "odd/../../x.txt", data: of(named("odd/../../x.txt"))},
		{name: "class in the parent", odd: "../odd/A.class", data: with(classNamed("../odd/A.class"))},
		{name: "dot names", odd: "., .., and ./x.txt", data: of(named("."), named(".."), named("./x.txt"))},
		{name: "double slash", odd: "odd//x.txt", data: of(named("odd//x.txt"))},
		{name: "slash", odd: "the name is a slash", data: of(part{name: "/", stored: true})},
		{name: "backslashes", odd: `odd\x.txt and ..\x.txt`, data: of(named(`odd\x.txt`), named(`..\x.txt`))},
		{name: "class with backslash", odd: `odd\A.class, as old Windows programs write it`,
			data: with(classNamed(`odd\A.class`), r())},
		{name: "drive letter", odd: "C:/x.txt", data: of(named("C:/x.txt"))},
		{name: "reserved names", odd: "NUL, con.txt, and a:b, which Windows takes for devices and streams",
			data: of(named("NUL"), named("con.txt"), named("a:b"))},
		{name: "dots and blanks at the end", odd: "x. and x with a blank, which Windows takes for x",
			data: of(named("x."), named("x "), named("x"))},
		{name: "NUL in a name", odd: "odd/x NUL .txt", data: of(named("odd/x\x00.txt"))},
		{name: "class name with NUL", odd: "odd/A.class NUL .txt, a class for programs that end names at NUL",
			data: with(classNamed("odd/A.class\x00.txt"), r())},
		{name: "empty name", odd: "a name of no bytes", data: of(named(""))},
		{name: "control characters", odd: "ESC and line ends in a name",
			data: of(named("odd/\x1b[2J.txt"), named("odd/a\nb.txt"), named("odd/\r.txt"))},
		{name: "right to left", odd: "U+202E, which shows the rest of a name backwards",
			data: of(part{name: "odd/\u202etxt.class", data: "x", flags: 1 << 11})},
		{name: "UTF-8, flag 11", odd: "a name in UTF-8, and the flag says so",
			data: of(part{name: "odd/ü.txt", data: oddText, flags: 1 << 11})},
		{name: "UTF-8, no flag", odd: "a name in UTF-8 that is declared as CP437", data: of(named("odd/ü.txt"))},
		{name: "CP437", odd: "a name in CP437, and no flag", differs: whyNames, data: of(named("odd/\x81.txt"))},
		{name: "not UTF-8, flag 11", odd: "a name in CP437 that is declared as UTF-8",
			differs: whyNames,
			data:    of(part{name: "odd/\x81.txt", data: oddText, flags: 1 << 11})},
		{name: "flag 11 in the local header only", odd: "the name has two encodings",
			data: of(local16(named("odd/ü.txt"), atFlags, 1<<11))},
		{name: "overlong UTF-8", odd: "a slash in two bytes, C0 AF",
			differs: whyNames, data: of(part{name: "odd\xc0\xafx.txt", data: oddText, flags: 1 << 11})},
		{name: "surrogates", odd: "U+1F600 as two surrogates of three bytes each",
			differs: whyNames,
			data:    of(part{name: "odd/\xed\xa0\xbd\xed\xb8\x80.txt", data: oddText, flags: 1 << 11})},
		{name: "composed and decomposed", odd: "ü in two forms of Unicode, which macOS takes for one name",
			data: of(part{name: "odd/\u00fc", data: "1", flags: 1 << 11}, part{name: "odd/u\u0308", data: "2", flags: 1 << 11})},
		{name: "unicode path", odd: "extra field 0x7075 with the name in UTF-8 (4.6.9)",
			differs: whyNames,
			data:    of(unicodePath("odd/\x81.txt", "odd/ü.txt", 0))},
		{name: "unicode path, other name", odd: "extra field 0x7075 with the name of a class on a text",
			data: of(unicodePath("odd/x.txt", "odd/B.class", 0))},
		{name: "unicode path, stale", odd: "extra field 0x7075 whose CRC is not that of the name",
			data: of(unicodePath("odd/x.txt", "odd/y.txt", 1))},
		{name: "mixed case", odd: "odd/a.class beside odd/A.class",
			data: of(part{name: "odd/a.class", data: oddClass("odd/a")})},
		{name: "directory with data", odd: "odd/d/ with 53 bytes", data: of(named("odd/d/"))},
		{name: "deflated directory", odd: "odd/d/ with no bytes, deflated to two", data: of(part{name: "odd/d/"})},
		{name: "directory named class", odd: "odd/B.class/", data: of(part{name: "odd/B.class/", stored: true})},
		{name: "file and directory", odd: "odd/d and odd/d/",
			data: of(named("odd/d"), part{name: "odd/d/", stored: true})},
		{name: "file below a file", odd: "odd/r.txt and odd/r.txt/x", data: of(r(), named("odd/r.txt/x"))},
		{name: "longest name", odd: "65,535 bytes", data: of(named(strings.Repeat("n", 0xFFFF)))},
		{name: "longest class name", odd: "65,535 bytes that end in .class",
			data: with(classNamed(strings.Repeat("n", 0xFFFF-6)+".class"), r())},
		{name: "deep directories", odd: "200 directories in each other", data: of(named(nested + "x.txt"))},
		{name: "only the suffix", odd: ".class and odd/.class",
			data: of(part{name: ".class", data: "x"}, part{name: "odd/.class", data: "x"})},
		{name: "upper-case suffix", odd: "odd/B.CLASS", data: of(part{name: "odd/B.CLASS", data: oddClass("odd/B")})},
	}
}

func unicodePath(name, unicode string, wrong uint32) part {
	field := append([]byte{1}, put32(nil, crc32.ChecksumIEEE([]byte(name))+wrong)...)
	field = extra(0x7075, append(field, unicode...)...)
	return part{name: name, data: oddText, localExtra: field, centralExtra: field}
}

func oddDuplicates() []oddArchive {
	other := part{name: "odd/A.class", data: oddClass("odd/A") + ""}
	text := part{name: "odd/A.class", data: "no class"}
	return []oddArchive{
		{name: "same twice", odd: "a resource twice, with the same data", data: of(r(), r())},
		{name: "other data twice", odd: "a resource twice, with different data",
			data: of(r(), part{name: "odd/r.txt", data: "second"})},
		{name: "three times", odd: "a resource three times, all different",
			data: of(r(), part{name: "odd/r.txt", data: "second"}, part{name: "odd/r.txt", data: "third"})},
		{name: "class twice", odd: "a class twice, with the same data", data: of(other)},
		{name: "class, then text", odd: "the second entry of the name is no class", data: of(text)},
		{name: "text, then class", odd: "the first entry of the name is no class", data: with(text, a())},
		{name: "directory twice", odd: "odd/ twice, which is usual",
			data: of(part{name: "odd/", stored: true}, part{name: "odd/", stored: true})},
		{name: "two manifests", odd: "META-INF/MANIFEST.MF twice",
			data: of(manifest("A: 1\r\n"), manifest("B: 2\r\n"))},
		{name: "one local header for two names", odd: "two central records with different names have one offset",
			fault: "odd/s.txt", differs: whyOverlap,
			data: with(a(), r(), part{name: "odd/s.txt", data: oddText, at: func(uint32) uint32 { return secondOffset() }})},
		{name: "one entry listed twice", odd: "two equal central records",
			fault: "odd/r.txt", differs: whyOverlap,
			data: container{parts: []part{a(), r()}, order: []int{0, 1, 1}}.build()},
	}
}

// secondOffset is where the second entry of an archive begins whose first is the class.
func secondOffset() uint32 { return uint32(bytes.Index(plainUsual()[4:], []byte("PK\x03\x04")) + 4) }

// manifest returns a manifest with these lines.
func manifest(lines string) part {
	return part{name: "META-INF/MANIFEST.MF", data: "Manifest-Version: 1.0\r\n" + lines + "\r\n"}
}

func oddHeaders() []oddArchive {
	described := func(p part, kind string) part { p.descriptor = kind; return p }
	behind := func(p part, bytes string) part { p.after = bytes; return p }
	renamed := func(p part, local string) part { p.localName = local; return p }
	return []oddArchive{
		{name: "other local name", odd: "the local header of a resource has another name",
			data: of(renamed(r(), "odd/s.txt"))},
		{name: "local name of a directory", odd: "the local header names a directory",
			data: of(renamed(r(), "odd/r/"))},
		{name: "other local CRC of a resource", odd: "the local CRC of a resource is wrong",
			data: of(local32(r(), atCRC, 1))},
		{name: "wrong CRC of a resource", odd: "both CRCs of a resource are wrong", data: of(both32(r(), atCRC, 1))},
		{name: "other local method of a resource", odd: "the same with a resource",
			data: of(local16(r(), atMethod, 0))},
		{name: "other central flags", odd: "the directory says encrypted, the local header does not",
			differs: whyCopied, data: of(central16(r(), atFlags+2, 1))},
		{name: "descriptor of 64 bits, no zip64", odd: "sizes of 8 bytes, and no zip64 field that says so",
			data: with(described(a(), "signed64"), described(r(), "bare64"))},
		{name: "descriptor without the bit", odd: "a descriptor, and bit 3 is not set",
			output: outStream,
			data:   with(behind(a(), string(put32(nil, 0x08074b50, 1, 2, 3))), r())},
		{name: "bit 3 in the directory only", odd: "the local header does not have the bit",
			data: of(central16(r(), atFlags+2, 8))},
		{name: "stored jar with descriptor", odd: "a stored archive, with a descriptor, in which a stream finds entries",
			data: of(described(part{name: "odd/inner.jar", data: string(with(named("inner.txt"))), stored: true}, "signed"))},
	}
}

func oddFields() []oddArchive {
	method := func(p part, m uint16) part { return both16(p, atMethod, m) }
	rows := []oddArchive{
		{name: "encrypted resource", odd: "bit 0", differs: whyCopied, data: of(both16(r(), atFlags, 1))},
		{name: "encrypted class", odd: "bit 0 of a class",
			differs: whyCopied, data: with(both16(a(), atFlags, 1), r())},
		{name: "strong encryption", odd: "bits 0 and 6 of a resource",
			differs: whyCopied, data: of(both16(r(), atFlags, 0x41))},
		{name: "masked headers", odd: "bit 13, of encrypted directories",
			data: with(both16(a(), atFlags, 1<<13), both16(r(), atFlags, 1<<13))},
		{name: "AES", odd: "method 99 and bit 0, as WinZip encrypts",
			differs: whyCopied, data: of(method(both16(r(), atFlags, 1), 99))},
		{name: "all bits", odd: "all general purpose bits but 0 and 3 of a class",
			data: with(both16(a(), atFlags, 0xFFF6), r())},
		{name: "level bits", odd: "bits 1 and 2, which are a hint", data: with(both16(a(), atFlags, 6), r())},
		{name: "patch data", odd: "bit 5", data: with(both16(a(), atFlags, 1<<5), r())},
		{name: "unused bits", odd: "bits 7 to 10", data: with(both16(a(), atFlags, 0x780), r())},
	}
	for _, m := range []struct {
		number uint16
		name   string
	}{{1, "shrink"}, {6, "implode"}, {9, "deflate64"}, {12, "bzip2"}, {14, "lzma"}, {93, "zstd"}, {95, "xz"},
		{0xFFFF, "65,535"}} {
		rows = append(rows, oddArchive{name: "method " + m.name, differs: whyCopied,
			odd:  "a resource with this method and data that is not of it",
			data: of(method(r(), m.number))})
	}
	return append(rows, []oddArchive{
		{name: "class with bzip2", odd: "a class with method 12",
			differs: whyCopied, data: with(method(a(), 12), r())},
		{name: "class with deflate64", odd: "a class with method 9, whose data is deflate",
			differs: whyCopied, data: with(method(a(), 9), r())},
		{name: "version needed 255", odd: "a class that needs version 25.5",
			data: with(both16(a(), atVersion, 255), r())},
		{name: "version needed 6.3", odd: "a class that needs version 6.3",
			data: with(both16(a(), atVersion, 63), r())},
		{name: "made by 255", odd: "an unknown system", data: with(central16(a(), 4, 0xFFFF), r())},
		{name: "month 0", odd: "date and time are zeros, as build tools write them",
			data: with(both16(both16(a(), atDate, 0), atTime, 0), r())},
		{name: "month 15", odd: "date and time are FFFF: month 15, day 31, 31 o'clock",
			data: with(both16(both16(a(), atDate, 0xFFFF), atTime, 0xFFFF), r())},
		{name: "symlink", odd: "the mode of a symbolic link to /etc/passwd",
			data: of(part{name: "odd/link", data: "/etc/passwd", madeBy: 0x0314, attrs: 0o120777 << 16})},
		{name: "class as symlink", odd: "a class whose mode is that of a symbolic link",
			data: with(part{name: "odd/A.class", data: oddClass("odd/A"), madeBy: 0x0314, attrs: 0o120777 << 16}, r())},
		{name: "device", odd: "the mode of a device, and setuid",
			data: of(part{name: "odd/tty", data: "x", madeBy: 0x0314, attrs: 0o020666 << 16},
				part{name: "odd/su", data: "x", madeBy: 0x0314, attrs: 0o104755 << 16})},
		{name: "directory attribute", odd: "a resource with the attribute of a directory",
			data: of(part{name: "odd/r.txt", data: oddText, attrs: 0x10})},
		{name: "internal attributes", odd: "all internal attributes of a class",
			data: with(central16(a(), 36, 0xFFFF), r())},
	}...)
}
