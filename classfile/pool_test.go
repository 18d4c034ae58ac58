package classfile_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
)

// errorText returns the text of err, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestConstantPool(t *testing.T) {
	pool := parse(t, everything().bytes()).ConstantPool()
	type entry struct {
		tag  classfile.Tag
		raw  string
		text string // the result of the kind's own accessor
	}
	want := []entry{
		{},
		{classfile.TagUtf8, "\x00\x03a/B", "a/B"},
		{classfile.TagClass, "\x00\x01", "a/B"},
		{classfile.TagUtf8, "\x00\x10java/lang/Object", "java/lang/Object"},
		{classfile.TagClass, "\x00\x03", "java/lang/Object"},
		{classfile.TagUtf8, "\x00\x03run", "run"},
		{classfile.TagUtf8, "\x00\x03()V", "()V"},
		{classfile.TagNameAndType, "\x00\x05\x00\x06", "run()V"},
		{classfile.TagInteger, "\xFF\xFF\xFF\xFE", "-2"},
		{classfile.TagFloat, "\x3F\x80\x00\x00", ""},
		{classfile.TagLong, "\x00\x00\x01\x00\x00\x00\x00\x00", ""},
		{},
		{classfile.TagDouble, "\x3F\xF0\x00\x00\x00\x00\x00\x00", ""},
		{},
		{classfile.TagString, "\x00\x05", "run"},
		{classfile.TagFieldref, "\x00\x02\x00\x07", "a/B.run()V"},
		{classfile.TagMethodref, "\x00\x02\x00\x07", "a/B.run()V"},
		{classfile.TagInterfaceMethodref, "\x00\x04\x00\x07", "java/lang/Object.run()V"},
		{classfile.TagMethodHandle, "\x06\x00\x10", ""},
		{classfile.TagMethodType, "\x00\x06", "()V"},
		{classfile.TagDynamic, "\x00\x00\x00\x07", ".run()V"},
		{classfile.TagInvokeDynamic, "\x00\x01\x00\x07", ".run()V"},
		{classfile.TagModule, "\x00\x05", "run"},
		{classfile.TagPackage, "\x00\x05", "run"},
	}
	for i, w := range want {
		i := uint16(i)
		got := entry{pool.Tag(i), string(pool.Raw(i)), textOf(t, pool, i)}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(entry{})); diff != "" {
			t.Errorf("constant %d (-want +got):\n%s", i, diff)
		}
	}
	end := pool.Offset(pool.Len())
	if pool.Offset(0) != 10 || pool.Offset(11) != pool.Offset(12) || pool.Offset(pool.Len()+5) != end {
		t.Errorf("offsets: %d, %d and %d, end %d", pool.Offset(0), pool.Offset(11), pool.Offset(12), end)
	}
}

func textOf(t *testing.T, pool *classfile.ConstantPool, i uint16) string {
	t.Helper()
	var text string
	var err error
	switch tag := pool.Tag(i); tag {
	case classfile.TagUtf8:
		text, err = pool.Utf8(i)
	case classfile.TagInteger:
		var v int32
		if v, err = pool.Integer(i); v == -2 {
			text = "-2"
		}
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		text, err = pool.NamedBy(i, tag)
	case classfile.TagNameAndType:
		var name, descriptor string
		name, descriptor, err = pool.NameAndType(i)
		text = name + descriptor
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagDynamic,
		classfile.TagInvokeDynamic:
		var ref classfile.Ref
		ref, err = pool.Ref(i)
		if ref.Tag != tag {
			t.Errorf("constant %d: Ref says it is a %v", i, ref.Tag)
		}
		text = ref.Class + "." + ref.Name + ref.Descriptor
	}
	if err != nil {
		t.Errorf("constant %d: %v", i, err)
	}
	return text
}

func TestConstantPoolErrors(t *testing.T) {
	s := newSource()
	long := s.wide(classfile.TagLong, 1)
	classOfClass := s.refer(classfile.TagClass, s.this)
	nameAndType := s.refer(classfile.TagNameAndType, 1, long)
	badName := s.refer(classfile.TagNameAndType, 99, 1)
	badClass := s.refer(classfile.TagMethodref, 1, nameAndType)
	badType := s.refer(classfile.TagDynamic, 0, nameAndType)
	noType := s.refer(classfile.TagFieldref, s.this, s.this)
	pool := parse(t, s.bytes()).ConstantPool()
	utf8 := func(i uint16) error { _, err := pool.Utf8(i); return err }
	class := func(i uint16) error { _, err := pool.ClassName(i); return err }
	both := func(i uint16) error { _, _, err := pool.NameAndType(i); return err }
	ref := func(i uint16) error { _, err := pool.Ref(i); return err }
	integer := func(i uint16) error { _, err := pool.Integer(i); return err }
	named := func(i uint16) error { _, err := pool.NamedBy(i, 0); return err }
	for _, test := range []struct {
		ask   func(uint16) error
		index uint16
		want  string
	}{
		{utf8, 0, "constant pool index 0 is unusable, want Utf8"},
		{utf8, 2, "constant pool index 2 is Class, want Utf8"},
		{utf8, long + 1, "constant pool index 6 is unusable, want Utf8"},
		{utf8, 65535, "constant pool index 65535 is unusable, want Utf8"},
		{integer, long, "constant pool index 5 is Long, want Integer"},
		{class, classOfClass, "Class at index 7: constant pool index 2 is Class, want Utf8"},
		{both, nameAndType, "NameAndType at index 8: constant pool index 5 is Long, want Utf8"},
		{both, badName, "NameAndType at index 9: constant pool index 99 is unusable, want Utf8"},
		{ref, badClass, "Methodref at index 10: constant pool index 1 is Utf8, want Class"},
		{ref, badType, "Dynamic at index 11: NameAndType at index 8: constant pool index 5 is Long, want Utf8"},
		{ref, noType, "Fieldref at index 12: constant pool index 2 is Class, want NameAndType"},
		{ref, 1, "constant pool index 1 does not refer to a member (Utf8)"},
		{ref, 0, "constant pool index 0 does not refer to a member (tag 0)"},
		{named, 0, "constant pool index 0 is unusable, want tag 0"},
		{named, 65535, "constant pool index 65535 is unusable, want tag 0"},
	} {
		if got := errorText(test.ask(test.index)); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestFind(t *testing.T) {
	s := everything()
	again := s.utf8("run")
	pool := parse(t, s.bytes()).ConstantPool()
	for _, test := range []struct {
		text string
		want uint16
	}{
		{"run", 5}, {"()V", 6}, {"a/B", 1}, {"ru", 0}, {"runs", 0}, {"", 0},
	} {
		if got, ok := pool.FindUtf8(test.text); got != test.want || ok != (test.want != 0) {
			t.Errorf("FindUtf8(%q) = %d, %v; want %d (the second is %d)", test.text, got, ok, test.want, again)
		}
	}
	for _, test := range []struct {
		tag      classfile.Tag
		operands []uint16
		want     uint16
	}{
		{classfile.TagClass, []uint16{3}, 4},
		{classfile.TagClass, []uint16{2}, 0},
		{classfile.TagNameAndType, []uint16{5, 6}, 7},
		{classfile.TagNameAndType, []uint16{6, 5}, 0},
		{classfile.TagMethodref, []uint16{2, 7}, 16},
		{classfile.TagInteger, []uint16{0xFFFF, 0xFFFE}, 8},
		{classfile.TagLong, []uint16{0, 0x100, 0, 0}, 10},
		// An entry of another size is not found, whatever bytes follow it.
		{classfile.TagPackage, []uint16{5, 0, 0, 0, 0, 0, 0, 0}, 0},
		{classfile.TagClass, nil, 0},
		{classfile.TagUtf8, []uint16{3}, 0},
		{classfile.TagMethodHandle, []uint16{0x600}, 0},
		{0, nil, 0},
		{255, []uint16{1}, 0},
	} {
		if got, ok := pool.Find(test.tag, test.operands...); got != test.want || ok != (test.want != 0) {
			t.Errorf("Find(%v, %v) = %d, %v; want %d", test.tag, test.operands, got, ok, test.want)
		}
	}
}

func TestTagString(t *testing.T) {
	var got []string
	for tag := range 256 {
		if text := classfile.Tag(tag).String(); !strings.HasPrefix(text, "tag ") {
			got = append(got, text)
		}
	}
	want := strings.Fields("Utf8 Integer Float Long Double Class String Fieldref Methodref InterfaceMethodref " +
		"NameAndType MethodHandle MethodType Dynamic InvokeDynamic Module Package")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of the tags (-want +got):\n%s", diff)
	}
	if got := classfile.Tag(2).String(); got != "tag 2" {
		t.Errorf("an unknown tag is %q", got)
	}
}

func TestPoolBuilder(t *testing.T) {
	s := everything()
	c := parse(t, s.bytes())
	b := classfile.NewPoolBuilder(c.ConstantPool())
	first := uint16(b.Len())
	name := b.AddUtf8("x/Y\xC0\x80")
	class := b.AddClass(name)
	nameAndType := b.AddNameAndType(5, 6)
	method := b.AddMethodref(class, nameAndType)
	number := b.AddInteger(-32769)
	empty := b.AddUtf8("")
	if err := b.Err(); err != nil || b.Len() != int(first)+6 || name != first || empty != first+5 {
		t.Fatalf("%v: constants %d to %d, first %d, count %d", err, name, empty, first, b.Len())
	}
	data, err := c.Rewrite(classfile.Edit{Constants: b})
	if err != nil {
		t.Fatal(err)
	}
	grown := parse(t, data)
	exercise(t, grown)
	pool := grown.ConstantPool()
	ref, err := pool.Ref(method)
	want := classfile.Ref{Tag: classfile.TagMethodref, Class: "x/Y\xC0\x80", Name: "run", Descriptor: "()V"}
	if err != nil || ref != want {
		t.Errorf("Methodref is %+v (%v), want %+v", ref, err, want)
	}
	if v, err := pool.Integer(number); v != -32769 || err != nil {
		t.Errorf("Integer is %d (%v)", v, err)
	}
	if text, err := pool.Utf8(empty); text != "" || err != nil || pool.Len() != b.Len() {
		t.Errorf("last Utf8 is %q (%v), count %d, want %d", text, err, pool.Len(), b.Len())
	}
	for i := range int(first) {
		if i := uint16(i); pool.Tag(i) != c.ConstantPool().Tag(i) ||
			string(pool.Raw(i)) != string(c.ConstantPool().Raw(i)) {
			t.Errorf("constant %d has moved", i)
		}
	}
	// Cutting off the added constants restores the class.
	cut, err := grown.Rewrite(classfile.Edit{KeepConstants: int(first)})
	if err != nil || string(cut) != string(c.Bytes()) {
		t.Errorf("cutting off the new constants does not restore the class: %v", err)
	}
}

func TestPoolBuilderLimits(t *testing.T) {
	c := parse(t, newSource().bytes())
	b := classfile.NewPoolBuilder(c.ConstantPool())
	for b.Len() < 65535 {
		b.AddInteger(1)
	}
	if data, err := c.Rewrite(classfile.Edit{Constants: b}); err != nil {
		t.Errorf("65,534 constants fit: %v", err)
	} else if n := parse(t, data).ConstantPool().Len(); n != 65535 {
		t.Errorf("constant_pool_count is %d", n)
	}
	b.AddInteger(1)
	const full = "constant_pool_count would be 65536, the limit is 65535"
	if got := errorText(b.Err()); got != full {
		t.Errorf("got %s, want %s", got, full)
	}
	if _, err := c.Rewrite(classfile.Edit{Constants: b}); errorText(err) != "class a/B: "+full {
		t.Errorf("a pool too large is written: %v", err)
	}

	long := classfile.NewPoolBuilder(c.ConstantPool())
	long.AddUtf8(strings.Repeat("x", 65535))
	if err := long.Err(); err != nil {
		t.Error(err)
	}
	long.AddUtf8(strings.Repeat("x", 65536))
	long.AddInteger(1)
	const tooLong = "a string of 65536 bytes does not fit a Utf8 constant, which holds 65535"
	if errorText(long.Err()) != tooLong {
		t.Errorf("got %v, want %s", long.Err(), tooLong)
	}
}

// TestPoolBuilderReset checks that a builder that was reset behaves like a new one, whatever was added before.
func TestPoolBuilderReset(t *testing.T) {
	other := parse(t, newSource().bytes())
	c := parse(t, everything().bytes())
	add := func(b *classfile.PoolBuilder) []uint16 {
		return []uint16{b.Utf8("run"), b.Class("new"), b.NameAndType("run", "()V"), b.AddUtf8("run")}
	}
	used := classfile.NewPoolBuilder(other.ConstantPool())
	add(used)
	used.AddUtf8(strings.Repeat("x", 65536))
	used.Reset(c.ConstantPool())
	fresh := classfile.NewPoolBuilder(c.ConstantPool())
	if got, want := add(used), add(fresh); !slices.Equal(got, want) || used.Len() != fresh.Len() || used.Err() != nil {
		t.Errorf("constants %d, count %d, %v; want %d, %d", got, used.Len(), used.Err(), want, fresh.Len())
	}
	got, err := c.Rewrite(classfile.Edit{Constants: used})
	want, _ := c.Rewrite(classfile.Edit{Constants: fresh})
	if err != nil || string(got) != string(want) {
		t.Errorf("the classes differ: %v", err)
	}
}

func TestPoolBuilderReuse(t *testing.T) {
	s := everything()
	first := uint16(s.count + 1)
	dangling := s.refer(classfile.TagClass, first)
	c := parse(t, s.bytes())
	b := classfile.NewPoolBuilder(c.ConstantPool())
	if int(first) != b.Len() || dangling != first-1 {
		t.Fatalf("the first new constant is %d, not %d", b.Len(), first)
	}
	for _, test := range []struct {
		what      string
		got, want uint16
	}{
		{"Utf8 of the class", b.Utf8("run"), 5},
		{"Class of the class", b.Class("a/B"), 2},
		{"NameAndType of the class", b.NameAndType("run", "()V"), 7},
		{"a new Utf8", b.Utf8("new"), first},
		{"a new Class, not the one that happens to name its Utf8", b.Class("new"), first + 1},
		{"the new Utf8 again", b.Utf8("new"), first},
		{"the new Class again", b.Class("new"), first + 1},
		{"a new Class of an old Utf8", b.Class("run"), first + 2},
		{"a new NameAndType of old Utf8s", b.NameAndType("()V", "run"), first + 3},
		{"it again", b.NameAndType("()V", "run"), first + 3},
		{"a new NameAndType of new Utf8s", b.NameAndType("x", "new"), first + 5},
		{"one that is always new", b.AddUtf8("run"), first + 6},
		{"a Module", b.AddModule(5), first + 7},
	} {
		if test.got != test.want {
			t.Errorf("%s is at %d, want %d", test.what, test.got, test.want)
		}
	}
}

// TestSpoiledPools changes each byte of the pools of testdata, and compares what is made for speed with the functions
// that read one entry: Ref and DescriptorOf, FindUtf8 and the look-up of a PoolBuilder.
//
// Invariant: A look-up in a constant pool returns the first entry that is equal, however malformed the class is.
func TestSpoiledPools(t *testing.T) {
	pools, found, failed := 0, 0, 0
	check := func(c *classfile.Class) {
		pools++
		pool := c.ConstantPool()
		first := map[string]uint16{"": 0, "i": 0, "(I)V": 0, "absent": 0}
		for i := range uint16(pool.Len() + 1) {
			if text, err := pool.Utf8(i); err == nil && first[text] == 0 {
				first[text] = i
			}
			got, err := pool.Ref(i)
			want, wantOK := readRef(pool, i)
			if got != want && wantOK || (err == nil) != wantOK {
				t.Errorf("Ref(%d) = %+v, %v; want %+v, %v", i, got, err, want, wantOK)
			}
			if wantOK {
				found++
			} else {
				failed++
			}
			descriptor, ok := pool.DescriptorOf(i)
			if ok != wantOK || ok && pool.Text(descriptor) != want.Descriptor {
				t.Errorf("DescriptorOf(%d) = %d, %v; want %q, %v", i, descriptor, ok, want.Descriptor, wantOK)
			}
		}
		b := classfile.NewPoolBuilder(pool)
		for text, want := range first {
			if got, ok := pool.FindUtf8(text); got != want || ok != (want != 0) {
				t.Errorf("FindUtf8(%q) = %d, %v; want %d", text, got, ok, want)
			}
			if got := b.Utf8(text); want != 0 && got != want || want == 0 && int(got) != b.Len()-1 {
				t.Errorf("Utf8(%q) = %d, want %d, or a new one", text, got, want)
			}
		}
	}
	last := everything()
	last.utf8("") // the last entry, of three bytes
	check(parse(t, last.bytes()))
	for _, data := range sampleClasses(t) {
		c := parse(t, data)
		check(c)
		if len(data) > 1500 {
			continue
		}
		data = slices.Clone(data)
		for at := 10; at < c.ConstantPool().Offset(c.ConstantPool().Len()); at++ {
			old := data[at]
			for _, v := range []byte{0, 0xFF, old ^ 1, old ^ 8} {
				data[at] = v
				if c, err := classfile.Parse(data); err == nil {
					check(c)
				}
			}
			data[at] = old
		}
	}
	if pools < 1000 || found < 1000 || failed < 1000 {
		t.Errorf("%d pools, in which %d members were found and %d not: there should be many", pools, found, failed)
	}
}

// readRef is ConstantPool.Ref by the functions that read one entry.
func readRef(pool *classfile.ConstantPool, i uint16) (classfile.Ref, bool) {
	r := classfile.Ref{Tag: pool.Tag(i)}
	var err error
	switch r.Tag {
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		r.Class, err = pool.ClassName(binary.BigEndian.Uint16(pool.Raw(i)))
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
	default:
		return r, false
	}
	if err == nil {
		r.Name, r.Descriptor, err = pool.NameAndType(binary.BigEndian.Uint16(pool.Raw(i)[2:]))
	}
	return r, err == nil
}
