package classfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

func TestParse(t *testing.T) {
	s := everything()
	s.minor, s.major = classfile.PreviewMinor, 70
	data := s.bytes()
	c := parse(t, data)

	if minor, major := c.Version(); minor != classfile.PreviewMinor || major != 70 {
		t.Errorf("version %d.%d", major, minor)
	}
	if c.AccessFlags() != classfile.AccPublic || c.Name() != "a/B" || c.SuperName() != "java/lang/Object" {
		t.Errorf("header: %#x %q %q", c.AccessFlags(), c.Name(), c.SuperName())
	}
	if diff := cmp.Diff([]string{"a/I", "a/J"}, c.Interfaces()); diff != "" {
		t.Errorf("interfaces (-want +got):\n%s", diff)
	}
	attribute := func(name, info string) classfile.Attribute {
		return classfile.Attribute{Name: name, Info: []byte(info)}
	}
	code := string(codeInfo(1, 2, []byte{0x01, 0xB0}, [][4]uint16{{0, 1, 1, 0}}, attributeSource{25, u2s(1, 0, 7)}))
	own, deprecated := "com.example.Own", attribute("Deprecated", "")
	for _, test := range []struct {
		what      string
		got, want any
	}{
		{"fields", c.Fields(), []classfile.Member{
			{AccessFlags: classfile.AccStatic, Name: "f", Descriptor: "J",
				Attributes: []classfile.Attribute{deprecated}},
		}},
		{"methods", c.Methods(), []classfile.Member{
			{AccessFlags: classfile.AccPublic, Name: "run", Descriptor: "()V", Attributes: []classfile.Attribute{
				attribute(own, "before"), attribute("Code", code), attribute(own, ""),
			}},
			{AccessFlags: classfile.AccAbstract, Name: "f", Descriptor: "()V", Attributes: []classfile.Attribute{
				deprecated, attribute(own, "\x00"),
			}},
			{AccessFlags: classfile.AccNative, Name: "Code", Descriptor: "()V"},
		}},
		{"attributes", c.Attributes(), []classfile.Attribute{attribute(own, "\x01\x02\x03"), deprecated}},
	} {
		positions := cmpopts.IgnoreFields(classfile.Attribute{}, "NameIndex", "Offset")
		if diff := cmp.Diff(test.want, test.got, positions, cmpopts.IgnoreFields(classfile.Member{}, "Offset"),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
	exercise(t, c)
}

// exercise calls every method of the class and checks what must hold for any class that parses: positions agree
// with the bytes, and writing it unchanged changes nothing.
func exercise(t testing.TB, c *classfile.Class) {
	t.Helper()
	data := c.Bytes()
	pool := c.ConstantPool()
	for i := range pool.Len() {
		index := uint16(i)
		exercisePoolEntry(t, data, pool, index)
	}
	checkAttributes := func(table []classfile.Attribute) {
		for _, a := range table {
			name, err := pool.Utf8(a.NameIndex)
			if err != nil || name != a.Name || !bytes.Equal(data[a.Offset:a.Offset+len(a.Info)], a.Info) ||
				cap(a.Info) != len(a.Info) || binary.BigEndian.Uint32(data[a.Offset-4:]) != uint32(len(a.Info)) {
				t.Errorf("attribute %q at %d disagrees with the class file: %v", a.Name, a.Offset, err)
			}
		}
	}
	for _, members := range [][]classfile.Member{c.Fields(), c.Methods()} {
		for i := range members {
			m := &members[i]
			if binary.BigEndian.Uint16(data[m.Offset:]) != m.AccessFlags {
				t.Errorf("%s%s is not at %d", m.Name, m.Descriptor, m.Offset)
			}
			checkAttributes(m.Attributes)
			code, ok, err := c.Code(m)
			if err != nil || !ok {
				continue
			}
			if !bytes.Equal(data[code.Offset:code.Offset+len(code.Bytecode)], code.Bytecode) {
				t.Errorf("code of %s%s is not at %d", m.Name, m.Descriptor, code.Offset)
			}
			checkAttributes(code.Attributes)
		}
	}
	checkAttributes(c.Attributes())
	if again, err := c.Rewrite(classfile.Edit{}); err != nil || !bytes.Equal(again, data) {
		t.Errorf("an empty edit changes the class (%v)", err)
	}
}

func exercisePoolEntry(t testing.TB, data []byte, pool *classfile.ConstantPool, i uint16) {
	t.Helper()
	tag, raw := pool.Tag(i), pool.Raw(i)
	if (tag == 0) != (raw == nil) {
		t.Fatalf("constant %d: %v has the bytes % x", i, tag, raw)
	}
	at := pool.Offset(int(i))
	if tag != 0 && (data[at] != byte(tag) || !bytes.Equal(data[at+1:at+1+len(raw)], raw)) {
		t.Errorf("constant %d is not at %d", i, at)
	}
	_, utf8Err := pool.Utf8(i)
	_, integerErr := pool.Integer(i)
	if (utf8Err == nil) != (tag == classfile.TagUtf8) || (integerErr == nil) != (tag == classfile.TagInteger) {
		t.Errorf("constant %d, %v: Utf8 says %v, Integer %v", i, tag, utf8Err, integerErr)
	}
	// The results of these depend on other entries too; here they must only return.
	_, _ = pool.ClassName(i)
	_, _ = pool.Ref(i)
	_, _, _ = pool.NameAndType(i)
	_, _ = pool.NamedBy(i, tag)
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*source)
		want  string
	}{
		{"magic", func(s *source) { s.magic = 0xCAFED00D },
			"not a class file: magic is not 0xCAFEBABE at offset 0x0"},
		{"version 44", func(s *source) { s.major = 44 },
			"unsupported class file version 44.0 (supported: 45 to 72) at offset 0x6"},
		{"a later version of another structure", func(s *source) { s.major, s.count = 73, 0 },
			"unsupported class file version 73.0 (supported: 45 to 72), whose structure is another: constant pool: " +
				"count 0 does not fit a class file of 55 bytes at offset 0x8 at offset 0x6"},
		{"no constant count", func(s *source) { s.count = 0 },
			"constant pool: count 0 does not fit a class file of 55 bytes at offset 0x8"},
		{"too many constants", func(s *source) { s.count = 65535 },
			"constant pool: count 65535 does not fit a class file of 55 bytes at offset 0x8"},
		{"unknown tag", func(s *source) { s.pool[0] = 13 },
			"constant pool: entry 1 has the unknown tag 13 at offset 0xa"},
		{"Utf8 past the end", func(s *source) { s.pool[1] = 0xFF },
			"constant pool: Utf8 at index 1 of 65286 bytes runs past the end at offset 0xa"},
		{"Long in the last index", func(s *source) { s.constant(classfile.TagLong, 0, 0, 0, 0, 0, 0, 0, 0) },
			"constant pool: Long at the last index 5 has no second slot at offset 0x32"},
		{"this_class no Class", func(s *source) { s.this = 1 },
			"this_class: constant pool index 1 is Utf8, want Class at offset 0x2b"},
		{"this_class past the pool", func(s *source) { s.this = 5 },
			"this_class: constant pool index 5 is unusable, want Class at offset 0x2b"},
		{"this_class names no Utf8", func(s *source) { s.this = s.refer(classfile.TagClass, 2) },
			"this_class: Class at index 5: constant pool index 2 is Class, want Utf8 at offset 0x2e"},
		{"super_class", func(s *source) { s.super = 3 },
			"class a/B: super_class: constant pool index 3 is Utf8, want Class at offset 0x2d"},
		{"interface", func(s *source) { s.interfaces = []uint16{4, 1} },
			"class a/B: interface 1: constant pool index 1 is Utf8, want Class at offset 0x33"},
		{"field name", func(s *source) { s.fields = []memberSource{{0, 2, 1, nil}} },
			"class a/B: name of field 0: constant pool index 2 is Class, want Utf8 at offset 0x35"},
		{"method descriptor", func(s *source) { s.methods = []memberSource{{0, 1, 0, nil}} },
			"class a/B: descriptor of method 0 a/B: constant pool index 0 is unusable, want Utf8 at offset 0x39"},
		{"attribute name", func(s *source) {
			s.methods = []memberSource{{0, 1, 3, []attributeSource{{1, nil}, {4, nil}}}}
		},
			"class a/B: method a/Bjava/lang/Object: name of attribute 1: " +
				"constant pool index 4 is Class, want Utf8 at offset 0x43"},
		{"attribute of the class", func(s *source) { s.attributes = []attributeSource{{9, nil}} },
			"class a/B: name of attribute 0: constant pool index 9 is unusable, want Utf8 at offset 0x37"},
		{"trailing bytes", func(s *source) { s.tail = []byte("xyz") },
			"class a/B: 3 bytes follow the class at offset 0x37"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSource()
			test.spoil(s)
			data := s.bytes()
			_, err := classfile.Parse(data)
			checkFormatError(t, data, err)
			if err.Error() != test.want {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
		})
	}
}

// TestParseLengths changes counts and lengths in the bytes of a valid class, since a source always writes correct
// ones.
func TestParseLengths(t *testing.T) {
	const interfaces, fields, methods, attributes = 0x2F, 0x31, 0x33, 0x35
	tests := []struct {
		name string
		at   int
		want string
	}{
		{"interfaces", interfaces, "class a/B: interfaces_count 65535 does not fit the 6 bytes left at offset 0x2f"},
		{"fields", fields, "class a/B: fields_count 65535 does not fit the 4 bytes left at offset 0x31"},
		{"methods", methods, "class a/B: methods_count 65535 does not fit the 2 bytes left at offset 0x33"},
		{"attributes", attributes, "class a/B: attributes_count 65535 does not fit the 0 bytes left at offset 0x35"},
	}
	s := newSource()
	s.interfaces = nil
	for _, test := range tests {
		data := s.bytes()
		binary.BigEndian.PutUint16(data[test.at:], 0xFFFF)
		_, err := classfile.Parse(data)
		checkFormatError(t, data, err)
		if err.Error() != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, err, test.want)
		}
	}

	s.attributes = []attributeSource{{1, nil}}
	data := s.bytes()
	for _, length := range []uint32{1, 0x7FFFFFFF, 0xFFFFFFFF} {
		binary.BigEndian.PutUint32(data[len(data)-4:], length)
		_, err := classfile.Parse(data)
		checkFormatError(t, data, err)
		if !strings.Contains(err.Error(), "class a/B: a/B of ") || !strings.Contains(err.Error(), "runs past the end") {
			t.Errorf("attribute_length %d: %v", length, err)
		}
	}
}

func checkFormatError(t testing.TB, data []byte, err error) {
	t.Helper()
	var format *classfile.FormatError
	if !errors.As(err, &format) {
		t.Fatalf("got %v, want a FormatError", err)
	}
	if format.Offset < 0 || format.Offset > len(data) || format.Err == nil {
		t.Errorf("%v: offset outside of %d bytes, or no reason", err, len(data))
	}
}

func TestParseSentinels(t *testing.T) {
	s := newSource()
	for _, test := range []struct {
		major, minor uint16
		supported    bool
	}{
		{0, 0, false}, {44, 65535, false}, {45, 0, true}, {45, 3, true},
		{45, 65535, true},
		{55, 65535, true}, {56, 65535, true}, {56, 0, true}, {70, 65535, true},
		{70, 0, true},
		{71, 0, true}, {72, 65535, true}, {73, 0, true}, {65535, 65535, true},
	} {
		s.major, s.minor = test.major, test.minor
		_, err := classfile.Parse(s.bytes())
		if test.supported != (err == nil) || !test.supported && !errors.Is(err, classfile.ErrVersion) {
			t.Errorf("%d.%d: %v", test.major, test.minor, err)
		}
	}
	for _, data := range []string{"", "\xCA", "\xCA\xFE\xBA", "PK\x03\x04",
		"\xBE\xBA\xFE\xCA\x00\x00\x00\x34\x00\x01"} {
		if _, err := classfile.Parse([]byte(data)); !errors.Is(err, classfile.ErrMagic) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if _, err := classfile.Parse([]byte("\xCA\xFE\xBA\xBE\x00\x00\x00\x34\x00")); errors.Is(err, classfile.ErrMagic) {
		t.Errorf("a truncated class file is reported as no class file: %v", err)
	}
}

// TestTruncated checks that every proper prefix of a class file is an error, and none causes a panic.
//
// Invariant: No bytes make the class file parser panic.
func TestTruncated(t *testing.T) {
	for name, data := range sampleClasses(t) {
		for n := range data {
			_, err := classfile.Parse(data[:n:n])
			if err == nil {
				t.Fatalf("%s: its first %d of %d bytes parse", name, n, len(data))
			}
			checkFormatError(t, data[:n], err)
		}
	}
}

// TestFlipped changes each byte of a class file. The result must be an error or a class that can be used like any
// other; none may cause a panic.
//
// Invariant: No bytes make the class file parser panic.
func TestFlipped(t *testing.T) {
	for name, data := range sampleClasses(t) {
		if testing.Short() && name != "everything" {
			continue
		}
		if len(data) > 700 {
			continue
		}
		parsed := 0
		for i, old := range data {
			for _, v := range []byte{0, 0xFF, old ^ 1, old ^ 0x80} {
				spoiled := bytes.Clone(data)
				spoiled[i] = v
				c, err := classfile.Parse(spoiled)
				if err != nil {
					checkFormatError(t, data, err)
					continue
				}
				parsed++
				exercise(t, c)
			}
		}
		if parsed == 0 {
			t.Errorf("%s: no changed class parses, but classes with changed names or access flags should", name)
		}
	}
}

// TestAllocation checks that Parse allocates nothing because of a count alone, without the bytes that it counts,
// and at most ten times the size of the class file.
//
// Invariant: The class file parser allocates at most ten times the size of the class file.
func TestAllocation(t *testing.T) {
	s := newSource()
	full := newSource()
	for range 20000 {
		full.attributes = append(full.attributes, attributeSource{1, nil})
		full.fields = append(full.fields, memberSource{0, 1, 1, nil})
		full.interfaces = append(full.interfaces, 2)
		full.utf8("")
	}
	inputs := map[string][]byte{"all kinds of entries": full.bytes()}
	for name, at := range map[string]int{"constants": 8, "interfaces": 0x2F, "fields": 0x31, "methods": 0x33,
		"attributes": 0x35} {
		data := s.bytes()
		binary.BigEndian.PutUint16(data[at:], 0xFFFF)
		inputs[name] = data
	}
	for name, data := range inputs {
		limit := uint64(10*len(data) + 4096)
		if got := allocated(func() { _, _ = classfile.Parse(data) }); got > limit {
			t.Errorf("%s: %d bytes allocated for a class of %d", name, got, len(data))
		}
	}
}

func allocated(f func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// sampleClasses returns the hand-made class and those of testdata, by name.
func sampleClasses(t testing.TB) map[string][]byte {
	t.Helper()
	classes := map[string][]byte{"everything": everything().bytes()}
	for path, data := range crafted.Committed(t) {
		_, name, _ := strings.Cut(filepath.ToSlash(path), "/classes/bin/")
		classes[name] = data
	}
	return classes
}

// TestReadCodeForgets checks that ReadCode of a method without code leaves nothing of the code that was read
// before.
func TestReadCodeForgets(t *testing.T) {
	c := parse(t, everything().bytes())
	var code classfile.Code
	with, without := 0, 0
	for range 2 {
		for i := range c.Methods() {
			m := &c.Methods()[i]
			ok, err := c.ReadCode(m, &code)
			want, wantOK, wantErr := c.Code(m)
			if ok != wantOK || errorText(err) != errorText(wantErr) {
				t.Errorf("method %s: %v, %v; want %v, %v", m.Name, ok, err, wantOK, wantErr)
			}
			if diff := cmp.Diff(want, code, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("method %s (-want +got):\n%s", m.Name, diff)
			}
			if ok {
				with++
			} else {
				without++
			}
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("%d methods with code, %d without", with, without)
	}
}
