package zipfile

import (
	"bytes"
	"hash/crc32"
	"strings"
)

func oddExtras() []oddArchive {
	field := func(local, central []byte) []byte {
		return with(part{name: "odd/A.class", data: oddClass("odd/A"), localExtra: local, centralExtra: central}, r())
	}
	both := func(b ...byte) []byte { return field(b, b) }
	long := extra(0xCAFE, make([]byte, 0xFFFF-4)...)
	wide := put64(nil, uint64(len(a().data)), uint64(len(deflated(a().data))))
	return []oddArchive{
		{name: "zip64 field not needed", odd: "a zip64 field with sizes that are in the header too",
			data: both(extra(1, wide...)...)},
		{name: "zip64 field of zeros", odd: "a zip64 field of 16 zeros, not needed",
			data: both(extra(1, make([]byte, 16)...)...)},
		{name: "zip64 field empty", odd: "a zip64 field of no bytes, not needed", data: both(extra(1)...)},
		{name: "zip64 field of 3 bytes", odd: "too short for any value, not needed",
			differs: whyExtra, data: both(extra(1, 0, 0, 0)...)},
		{name: "zip64 field of 40 bytes", odd: "longer than all its values",
			differs: whyExtra, data: both(extra(1, append(wide, make([]byte, 24)...)...)...)},
		{name: "zip64 sizes", odd: "sizes and offset in the zip64 field, needed as the header says FFFFFFFF",
			data: with(part{name: "odd/A.class", data: oddClass("odd/A"), zip64: "uco", local64: true}, r())},
		{name: "zip64 sizes in the directory", odd: "the same in the central record only",
			data: with(part{name: "odd/A.class", data: oddClass("odd/A"), zip64: "uco"}, r())},
		{name: "zip64 size missing", odd: "the central size of a class is FFFFFFFF and there is no zip64 field",
			differs: whyLimit,
			data:    with(central32(a(), atSize+2, 0xFFFFFFFF), r())},
		{name: "zip64 field too short", odd: "the central size is FFFFFFFF and the zip64 field has 4 bytes",
			fault: "odd/A.class",
			data: with(central32(part{name: "odd/A.class", data: oddClass("odd/A"),
				centralExtra: extra(1, 0, 0, 0, 0)}, atSize+2, 0xFFFFFFFF), r())},
		{name: "zip64 size of 2^64-1", odd: "the zip64 field of a resource has the greatest size",
			differs: whyCopied,
			data: of(central32(part{name: "odd/r.txt", data: oddText,
				centralExtra: extra(1, 255, 255, 255, 255, 255, 255, 255, 255)}, atSize+2, 0xFFFFFFFF))},
		{name: "zip64 offset of 2^63", odd: "the zip64 field of a resource has an offset beyond all files",
			fault: "odd/r.txt", differs: whyLost,
			data: of(central32(part{name: "odd/r.txt", data: oddText,
				centralExtra: extra(1, 0, 0, 0, 0, 0, 0, 0, 0x80)}, 42, 0xFFFFFFFF))},
		{name: "two zip64 fields", odd: "the first has the size, the second another",
			data: with(central32(part{name: "odd/A.class", data: oddClass("odd/A"), centralExtra: append(
				extra(1, put64(nil, uint64(len(a().data)))...), extra(1, put64(nil, 7)...)...)}, atSize+2, 0xFFFFFFFF), r())},
		{name: "padding of 3 bytes", odd: "three zeros, as zipalign writes them", data: both(0, 0, 0)},
		{name: "field that overruns", odd: "a field of 100 bytes where 2 are left",
			differs: whyExtra, data: both(0xFE, 0xCA, 100, 0, 1, 2)},
		{name: "field header cut", odd: "an extra field of 2 bytes", data: both(0xFE, 0xCA)},
		{name: "overrun in the local header", odd: "the local field overruns, the central one does not",
			data: field([]byte{0xFE, 0xCA, 100, 0}, nil)},
		{name: "local extra length", odd: "the local extra length is 65,535",
			fault: "odd/r.txt", differs: whyLost, data: with(a(), local16(r(), atExtra, 0xFFFF))},
		{name: "local extra length of a class", odd: "the local extra length of a class is 4 and there is no field",
			fault: "odd/r.txt", differs: whyOverlap,
			data: with(local16(a(), atExtra, 4), r())},
		{name: "central extra length", odd: "the central extra length is 65,535",
			data: of(central16(r(), 30, 0xFFFF))},
		{name: "central name length", odd: "the central name length is 65,535", data: of(central16(r(), 28, 0xFFFF))},
		{name: "central comment length", odd: "the central comment length is 65,535",
			data: of(central16(r(), 32, 0xFFFF))},
		{name: "most extra bytes", odd: "65,535 bytes of one field in both headers", data: both(long...)},
		{name: "16,383 fields", odd: "65,532 bytes of empty fields",
			data: both(bytes.Repeat(extra(0xCAFE), 0xFFFF/4)...)},
		{name: "jar marker", odd: "field 0xCAFE, by which Unix knows programs that are jars",
			data: both(extra(0xCAFE)...)},
		{name: "times damaged", odd: "field 0x5455 with flags for times that are missing",
			data: both(extra(0x5455, 7, 1, 2)...)},
		{name: "NTFS times damaged", odd: "field 0x000A of 8 bytes",
			data: both(extra(0x000A, 0, 0, 0, 0, 1, 0, 24, 0)...)},
		{name: "comment of an entry", odd: "NUL and no UTF-8 in the comment of a class",
			differs: whyExtra,
			data:    with(part{name: "odd/A.class", data: oddClass("odd/A"), comment: "\x00\xff\x1b[2J"}, r())},
		{name: "records in a comment", odd: "the comment of an entry has a central record and an end record",
			differs: whyExtra,
			data:    of(part{name: "odd/r.txt", data: oddText, comment: string(plainUsual()[len(plainUsual())-90:])})},
		{name: "longest comment of an entry", odd: "65,535 bytes",
			data: of(part{name: "odd/r.txt", data: oddText, comment: strings.Repeat("c", 0xFFFF)})},
	}
}

func oddData() []oddArchive {
	zeros := strings.Repeat("\x00", 1<<20)
	packed := func(p part, change func([]byte) []byte) part { p.packed = change; return p }
	cut := func(b []byte) []byte { return b[:len(b)-3] }
	longer := func(b []byte) []byte { return append(bytes.Clone(b), "more"...) }
	stored := func(p part) part { p.stored = true; return p }
	openBlock := func(b []byte) []byte { b = bytes.Clone(b); b[0] &^= 1; return b }
	return []oddArchive{
		{name: "40 of them", odd: "40 MiB in 40 KiB", data: of(manyZeros(zeros)...)},
		{name: "class of 4 GiB", odd: "a class that is declared with 4,294,967,294 bytes",
			differs: whyLimit, data: with(both32(a(), atSize, 0xFFFFFFFE), r())},
		{name: "packed size 4 GiB", odd: "the compressed size of a resource is 4,294,967,294",
			fault: "odd/r.txt", differs: whyLost, data: of(both32(r(), atPacked, 0xFFFFFFFE))},
		{name: "resource ends late", odd: "a resource is declared with one byte less",
			data: of(both32(r(), atSize, uint32(len(oddText)-1)))},
		{name: "resource ends early", odd: "a resource is declared with one byte more",
			data: of(both32(r(), atSize, uint32(len(oddText)+1)))},
		{name: "deflate cut, resource", odd: "the last three bytes of a resource's data are missing",
			data: of(packed(r(), cut))},
		{name: "bytes behind deflate", odd: "four bytes behind the end of a class's data, counted in its size",
			data: with(packed(a(), longer), r())},
		{name: "no last block", odd: "the last block of a class's data is not marked",
			data: with(packed(a(), openBlock), r())},
		{name: "zlib header", odd: "a class's data begins with the header of zlib",
			fault: "odd/A.class", differs: whyInflate,
			data: with(packed(a(), func(b []byte) []byte { return append([]byte{0x78, 0x9c}, b...) }), r())},
		{name: "deflated to nothing", odd: "a resource of no bytes, deflated to no bytes",
			data: of(part{name: "odd/empty", packed: func([]byte) []byte { return nil }})},
		{name: "stored, packed size smaller", odd: "a stored resource of 53 bytes with a compressed size of 52",
			output: outPacked,
			data:   of(both32(stored(r()), atPacked, uint32(len(oddText)-1)))},
		{name: "one bit of a deflated resource", odd: "one bit of the data is another",
			data: of(packed(r(), flipped))},
	}
}

// flipped returns data with another bit in the middle.
func flipped(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 16
	return data
}

func manyZeros(zeros string) (parts []part) {
	packed := deflated(zeros)
	for i := range 40 {
		p := both32(part{name: "odd/zeros" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)}, atSize, uint32(len(zeros)))
		p.packed = func([]byte) []byte { return packed }
		parts = append(parts, both32(p, atCRC, crc32.ChecksumIEEE([]byte(zeros))))
	}
	return parts
}

func oddJars() []oddArchive {
	class := func(name, data string) part { return part{name: name, data: data} }
	version := func(major byte) string { b := []byte(oddClass("odd/A")); b[7] = major; return string(b) }
	multi := manifest("Multi-Release: true\r\n")
	releases := func(m part, names ...string) []byte {
		parts := []part{m, a()}
		for _, n := range names {
			parts = append(parts, classNamed("META-INF/versions/"+n+"/odd/A.class"))
		}
		return with(parts...)
	}
	signed := manifest("\r\nName: odd/r.txt\r\nSHA-256-Digest: AAAA\r\n")
	return []oddArchive{
		{name: "class that is none", odd: "a text with the name of a class",
			data: of(class("odd/B.class", "no class"))},
		{name: "class of no bytes", odd: "an empty entry with the name of a class",
			data: of(class("odd/B.class", ""))},
		{name: "class cut short", odd: "the first half of a class",
			differs: whyMalformed, data: of(class("odd/B.class", oddClass("odd/B")[:80]))},
		{name: "bytes behind a class", odd: "four bytes behind a class",
			differs: whyMalformed, data: of(class("odd/B.class", oddClass("odd/B")+"more"))},
		{name: "other class", odd: "odd/B.class holds odd.C", data: of(class("odd/B.class", oddClass("odd/C")))},
		{name: "class twice by content", odd: "odd/B.class holds odd.A too", data: of(classNamed("odd/B.class"))},
		{name: "version 255", odd: "a class of a later version",
			differs: whyVersion, data: with(class("odd/A.class", version(255)), r())},
		{name: "version 0", odd: "a class of version 0",
			differs: whyVersion, data: with(class("odd/A.class", version(0)), r())},
		{name: "module-info damaged", odd: "module-info.class is a text",
			data: of(class("module-info.class", "no class"))},
		{name: "package-info of no bytes", odd: "an empty odd/package-info.class",
			data: of(class("odd/package-info.class", ""))},
		{name: "manifest not first", odd: "JarInputStream does not find it", data: of(manifest(""))},
		{name: "manifest without line end", odd: "its last line has none",
			data: with(part{name: "META-INF/MANIFEST.MF", data: "Manifest-Version: 1.0\r\nA: 1"}, a())},
		{name: "manifest damaged", odd: "a manifest of odd bytes",
			data: with(part{name: "META-INF/MANIFEST.MF", data: "\x00\xff\xfe no colon\n"}, a())},
		{name: "manifest in lower case", odd: "meta-inf/manifest.mf",
			data: with(part{name: "meta-inf/manifest.mf", data: "Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n"}, a())},
		{name: "manifest is a directory", odd: "META-INF/MANIFEST.MF/",
			data: with(part{name: "META-INF/MANIFEST.MF/", stored: true}, a())},
		{name: "signed", odd: ".SF and .RSA of no signature, digests in the manifest",
			differs: whySigned, changed: []string{"META-INF/K.RSA", "META-INF/K.SF", "META-INF/MANIFEST.MF"},
			data: with(signed, part{name: "META-INF/K.SF", data: "Signature-Version: 1.0\r\n\r\n"},
				part{name: "META-INF/K.RSA", data: "x"}, a(), r())},
		{name: "signature alone", odd: "a .SF without a manifest",
			differs: whySigned, changed: []string{"META-INF/K.SF"},
			data: of(part{name: "META-INF/K.SF", data: "Signature-Version: 1.0\r\n\r\n"})},
		{name: "signature with bad CRC", odd: "the CRC of a .SF is wrong",
			differs: whySigned, changed: []string{"META-INF/K.SF"},
			data: of(both32(part{name: "META-INF/K.SF", data: "Signature-Version: 1.0\r\n\r\n"}, atCRC, 1))},
		{name: "signed manifest with bad CRC", odd: "the CRC of a signed jar's manifest is wrong",
			fault: "META-INF/MANIFEST.MF", differs: whyManifest,
			data: with(both32(signed, atCRC, 1), part{name: "META-INF/K.SF", data: "x"}, a())},
		{name: "signature in a directory", odd: "META-INF/x/K.SF, which is none",
			data: of(part{name: "META-INF/x/K.SF", data: "x"})},
		{name: "index", odd: "META-INF/INDEX.LIST that names a jar that is not there",
			data: of(part{name: "META-INF/INDEX.LIST", data: "JarIndex-Version: 1.0\n\ngone.jar\nodd\n\n"})},
		{name: "multi-release", odd: "a class for Java 9", data: releases(multi, "9")},
		{name: "multi-release, not declared", odd: "META-INF/versions/9, and no line in the manifest",
			data: releases(manifest(""), "9")},
		{name: "multi-release 8", odd: "META-INF/versions/8, which has no meaning", data: releases(multi, "8")},
		{name: "bad releases", odd: "META-INF/versions/ with 0, -1, 09, abc, and 99999999999",
			data: releases(multi, "0", "-1", "09", "abc", "99999999999")},
		{name: "release without name", odd: "META-INF/versions//odd/A.class", data: releases(multi, "")},
	}
}

func oddNested() []oddArchive {
	jar := func(name string, data []byte) part { return part{name: name, data: string(data)} }
	storedJar := func(name string, data []byte) part { return part{name: name, data: string(data), stored: true} }
	deep := plainUsual()
	for range 20 {
		deep = of(storedJar("BOOT-INF/lib/in.jar", deep))
	}
	quine := of(storedJar("BOOT-INF/lib/self.jar", of(storedJar("BOOT-INF/lib/self.jar", plainUsual()))))
	whole := plainUsual()
	cut := whole[:len(whole)-30]
	other := with(part{name: "odd/B.class", data: oddClass("odd/B")})
	text := part{name: "AndroidManifest.xml", data: "x"}
	return []oddArchive{
		{name: "library in a program", odd: "BOOT-INF/lib/b.jar, stored",
			differs: whyInside, changed: []string{"BOOT-INF/lib/b.jar"},
			data: of(storedJar("BOOT-INF/lib/b.jar", other))},
		{name: "deflated library", odd: "BOOT-INF/lib/b.jar, deflated, which Spring Boot does not read",
			differs: whyInside, changed: []string{"BOOT-INF/lib/b.jar"}, data: of(jar("BOOT-INF/lib/b.jar", other))},
		{name: "damaged library", odd: "BOOT-INF/lib/b.jar without an end record",
			data: of(jar("BOOT-INF/lib/b.jar", cut))},
		{name: "library with bad CRC", odd: "BOOT-INF/lib/b.jar whose CRC is wrong",
			data: of(both32(jar("BOOT-INF/lib/b.jar", other), atCRC, 1))},
		{name: "encrypted library", odd: "BOOT-INF/lib/b.jar with bit 0",
			differs: whyCopied, data: of(both16(jar("BOOT-INF/lib/b.jar", other), atFlags, 1))},
		{name: "library with overlapping entries", odd: "BOOT-INF/lib/b.jar lists an entry twice",
			data: of(storedJar("BOOT-INF/lib/b.jar", container{parts: []part{a()}, order: []int{0, 0}}.build()))},
		{name: "jar as a resource", odd: "odd/inner.jar", data: of(jar("odd/inner.jar", other))},
		{name: "archives in archives", odd: "20 archives in each other",
			differs: whyInside, changed: []string{"BOOT-INF/lib/in.jar"}, data: deep},
		{name: "archive in itself", odd: "an archive with an older form of itself, twice",
			differs: whyInside, changed: []string{"BOOT-INF/lib/self.jar"}, data: quine},
		{name: "aar", odd: "an Android library",
			ext: ".aar", differs: whyInside, changed: []string{"classes.jar"},
			data: with(text, jar("classes.jar", whole))},
		{name: "aar without classes.jar", odd: "resources alone", ext: ".aar", data: with(text)},
		{name: "aar with empty classes.jar", odd: "classes.jar is an archive without entries",
			ext: ".aar", data: with(text, jar("classes.jar", with()))},
		{name: "aar with classes.jar of no bytes", odd: "classes.jar is an empty file",
			ext: ".aar", fault: "classes.jar", differs: whyLibrary, data: with(text, jar("classes.jar", nil))},
		{name: "aar with damaged classes.jar", odd: "classes.jar has no end record",
			ext: ".aar", fault: "classes.jar", differs: whyLibrary, data: with(text, jar("classes.jar", cut))},
		{name: "aar with bad CRC", odd: "the CRC of classes.jar is wrong",
			ext: ".aar", fault: "classes.jar", differs: whyLibrary,
			data: with(text, both32(jar("classes.jar", whole), atCRC, 1))},
		{name: "aar with encrypted classes.jar", odd: "bit 0 of classes.jar",
			ext: ".aar", fault: "classes.jar", data: with(text, both16(jar("classes.jar", whole), atFlags, 1))},
		{name: "aar with classes.jar in bzip2", odd: "method 12 of classes.jar",
			ext: ".aar", fault: "classes.jar", data: with(text, both16(jar("classes.jar", whole), atMethod, 12))},
		{name: "aar with two classes.jar", odd: "the second one is damaged",
			ext: ".aar", fault: "classes.jar", differs: whyLibrary,
			data: with(text, jar("classes.jar", whole), jar("classes.jar", cut))},
		{name: "aar with classes.jar as directory", odd: "classes.jar/",
			ext: ".aar", data: with(text, part{name: "classes.jar/", stored: true})},
		{name: "aar with CLASSES.JAR", odd: "the name is in upper case",
			ext: ".aar", data: with(text, jar("CLASSES.JAR", whole))},
		{name: "aar with a damaged library", odd: "libs/b.jar has no end record",
			ext: ".aar", fault: "libs/b.jar", differs: whyLibrary,
			data: with(text, jar("classes.jar", whole), jar("libs/b.jar", cut))},
		{name: "aar with a class", odd: "a class beside classes.jar, which no build reads",
			ext: ".aar", differs: whyInside, changed: []string{"classes.jar"},
			data: with(text, a(), jar("classes.jar", other))},
		{name: "war", odd: "WEB-INF/classes and a damaged WEB-INF/lib/b.jar",
			ext: ".war", data: with(classNamed("WEB-INF/classes/odd/A.class"), jar("WEB-INF/lib/b.jar", cut))},
	}
}
