package classfile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// reassembled writes the class with every Code attribute and every Utf8 replaced by itself, so that Rewrite copies
// the class in as many pieces as possible.
func reassembled(c *classfile.Class) ([]byte, error) {
	var e classfile.Edit
	for i := range c.Methods() {
		if a, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code"); ok {
			e.Codes = append(e.Codes, classfile.CodeEdit{Method: i, Info: bytes.Clone(a.Info)})
		}
	}
	e.Constants = classfile.NewPoolBuilder(c.ConstantPool())
	kept := len(c.Methods())
	e.KeepMethods = &kept
	e.Utf8 = map[uint16]string{}
	for i := range c.ConstantPool().Len() {
		if s, err := c.ConstantPool().Utf8(uint16(i)); err == nil {
			e.Utf8[uint16(i)] = strings.Clone(s)
		}
	}
	return c.Rewrite(e)
}

// TestLossless checks that a class that is parsed and written unchanged is the same bytes, also if every part is
// replaced by itself, or if all methods are dropped and appended again.
//
// Invariant: A class that is parsed and written has the same bytes, also if every part of it is replaced by itself.
func TestLossless(t *testing.T) {
	for name, data := range sampleClasses(t) {
		before := bytes.Clone(data)
		c := parse(t, data)
		exercise(t, c)
		if !bytes.Equal(c.Bytes(), data) {
			t.Errorf("%s: Bytes returns other bytes", name)
		}
		if again, err := reassembled(c); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: reassembling changes it (%v)", name, err)
		}
		none := 0
		moved := classfile.Edit{KeepMethods: &none}
		ends := len(data)
		if len(c.Attributes()) > 0 {
			ends = c.Attributes()[0].Offset - 6
		}
		for i, m := range c.Methods() {
			end := ends - 2
			if i+1 < len(c.Methods()) {
				end = c.Methods()[i+1].Offset
			}
			moved.AddMethods = append(moved.AddMethods, data[m.Offset:end])
		}
		if again, err := c.Rewrite(moved); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: moving its methods changes it (%v)", name, err)
		}
		if !bytes.Equal(data, before) {
			t.Fatalf("%s: the input was written to", name)
		}
	}
}

func TestRewrite(t *testing.T) {
	s := everything()
	c := parse(t, s.bytes())
	one := 1
	name, _ := c.ConstantPool().FindUtf8("run")
	pool := classfile.NewPoolBuilder(c.ConstantPool())
	added := pool.AddUtf8("added")
	method := memberSource{classfile.AccPublic, added, 6, []attributeSource{{added, []byte{9}}}}
	_, err := c.Rewrite(classfile.Edit{Constants: pool, Utf8: map[uint16]string{name: "RUN", added: ""}})
	if want := "class a/B: constant pool index 34 is unusable, want Utf8"; errorText(err) != want {
		t.Errorf("a new constant is replaced: %v, want %s", err, want)
	}
	data, err := c.Rewrite(classfile.Edit{
		Constants:   pool,
		Codes:       []classfile.CodeEdit{{Method: 0, Info: []byte("a new code")}},
		KeepMethods: &one,
		AddMethods:  [][]byte{method.append(nil), method.append(nil)},
		Utf8:        map[uint16]string{name: "RUN"},
	})
	if err != nil {
		t.Fatal(err)
	}

	// The same class made by hand.
	s.utf8("added")
	s.pool = bytes.Replace(s.pool, []byte("\x01\x00\x03run"), []byte("\x01\x00\x03RUN"), 1)
	s.methods[0].attributes[1].info = []byte("a new code")
	s.methods = append(s.methods[:1], method, method)
	if !bytes.Equal(data, s.bytes()) {
		t.Errorf("got\n%q\nwant\n%q", data, s.bytes())
	}
	exercise(t, parse(t, data))
}

// TestRewriteTakesItsSize checks that Rewrite allocates the result in its exact size.
func TestRewriteTakesItsSize(t *testing.T) {
	s := everything()
	c := parse(t, s.bytes())
	pool := classfile.NewPoolBuilder(c.ConstantPool())
	pool.AddUtf8("added")
	for _, edit := range []classfile.Edit{
		{},
		{Constants: pool, Codes: []classfile.CodeEdit{{Method: 0, Info: make([]byte, 1000)}},
			AddMethods: [][]byte{make([]byte, 30)}},
		{Codes: []classfile.CodeEdit{{Method: 0}}, Attributes: map[int][]byte{0: make([]byte, 50)}},
	} {
		data, err := c.Rewrite(edit)
		if err != nil || len(data) != cap(data) {
			t.Errorf("a class of %d bytes in a memory of %d (%v)", len(data), cap(data), err)
		}
	}
}

func TestRewriteErrors(t *testing.T) {
	s := everything()
	c := parse(t, s.bytes())
	other := parse(t, s.bytes())
	long := -1
	for i := range c.ConstantPool().Len() {
		if c.ConstantPool().Tag(uint16(i)) == classfile.TagLong {
			long = i
		}
	}
	number := func(n int) *int { return &n }
	code := func(methods ...int) (edits []classfile.CodeEdit) {
		for _, m := range methods {
			edits = append(edits, classfile.CodeEdit{Method: m})
		}
		return edits
	}
	for _, test := range []struct {
		name string
		edit classfile.Edit
		want string
	}{
		{"constants of another class", classfile.Edit{Constants: classfile.NewPoolBuilder(other.ConstantPool())},
			"the constants to add were made for another class"},
		{"constants of none", classfile.Edit{Constants: &classfile.PoolBuilder{}},
			"the constants to add were made for another class"},
		{"add and drop", classfile.Edit{Constants: classfile.NewPoolBuilder(c.ConstantPool()), KeepConstants: 1},
			"cannot both add constants and drop some"},
		{"keep too many", classfile.Edit{KeepConstants: 35}, "cannot keep 35 of 34 constants"},
		{"keep a negative number", classfile.Edit{KeepConstants: -1}, "cannot keep -1 of 34 constants"},
		{"cut a Long", classfile.Edit{KeepConstants: long + 1},
			"cannot cut the constant pool at 11, inside a constant"},
		{"Utf8 is none", classfile.Edit{Utf8: map[uint16]string{2: "", 0: "", 40000: ""}},
			"constant pool index 0 is unusable, want Utf8"},
		{"Utf8 of another length", classfile.Edit{Utf8: map[uint16]string{5: "runs"}},
			"Utf8 at index 5 has 3 bytes, its replacement 4"},
		{"Utf8 that is cut off", classfile.Edit{KeepConstants: 5, Utf8: map[uint16]string{5: "RUN"}},
			"Utf8 at index 5 is not kept, so that it cannot be replaced"},
		{"keep too many methods", classfile.Edit{KeepMethods: number(4)},
			"cannot keep 4 of 3 methods and add 0 (at most 65535 in all)"},
		{"keep negative methods", classfile.Edit{KeepMethods: number(-1)},
			"cannot keep -1 of 3 methods and add 0 (at most 65535 in all)"},
		{"too many methods", classfile.Edit{AddMethods: make([][]byte, 65533)},
			"cannot keep 3 of 3 methods and add 65533 (at most 65535 in all)"},
		{"code of no method", classfile.Edit{Codes: code(3)},
			"Code edit of method 3 after that of -1: not in order, or not one of 3"},
		{"code of a dropped method", classfile.Edit{Codes: code(0), KeepMethods: number(0)},
			"Code edit of method 0 after that of -1: not in order, or not one of 0"},
		{"code twice", classfile.Edit{Codes: code(0, 0)},
			"Code edit of method 0 after that of 0: not in order, or not one of 3"},
		{"code of an abstract method", classfile.Edit{Codes: code(1)}, "method f()V has no Code to replace"},
	} {
		data, err := c.Rewrite(test.edit)
		if got := errorText(err); got != "class a/B: "+test.want || data != nil {
			t.Errorf("%s:\ngot  %s\nwant class a/B: %s", test.name, got, test.want)
		}
	}
}

// TestRewriteSecondCode checks that if a method has two Code attributes, which is malformed but parses, the first
// one is replaced.
func TestRewriteSecondCode(t *testing.T) {
	s := newSource()
	code := s.utf8("Code")
	s.methods = []memberSource{{0, 1, 1, []attributeSource{{code, []byte("1")}, {code, []byte("2")}}}}
	data, err := parse(t, s.bytes()).Rewrite(classfile.Edit{Codes: []classfile.CodeEdit{{Info: []byte("first")}}})
	s.methods[0].attributes[0].info = []byte("first")
	if err != nil || !bytes.Equal(data, s.bytes()) {
		t.Errorf("%q (%v)", data, err)
	}
}

// TestRewriteAllocation checks that Rewrite makes one allocation for the class that it writes, however large that
// is.
func TestRewriteAllocation(t *testing.T) {
	s := newSource()
	s.attributes = []attributeSource{{1, make([]byte, 1<<20)}}
	c := parse(t, s.bytes())
	got := allocated(func() { _, _ = c.Rewrite(classfile.Edit{}) })
	if got > uint64(len(c.Bytes())+16384) {
		t.Errorf("%d bytes allocated for a class of %d", got, len(c.Bytes()))
	}
}

func TestCode(t *testing.T) {
	s := everything()
	c := parse(t, s.bytes())
	code, ok, err := c.Code(&c.Methods()[0])
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if code.MaxStack != 1 || code.MaxLocals != 2 || string(code.Bytecode) != "\x01\xB0" || len(code.Attributes) != 1 ||
		string(code.ExceptionTable) != string(u2s(0, 1, 1, 0)) || code.Attributes[0].Name != "LineNumberTable" ||
		string(code.Attributes[0].Info) != string(u2s(1, 0, 7)) {
		t.Errorf("got %+v", code)
	}
	for i := range c.Methods()[1:] {
		if _, ok, err := c.Code(&c.Methods()[i+1]); ok || err != nil {
			t.Errorf("method %d has code: %v", i+1, err)
		}
	}
}

func TestCodeErrors(t *testing.T) {
	good := codeInfo(0, 0, []byte{0xB1}, [][4]uint16{{0, 1, 1, 0}}, attributeSource{1, []byte("x")})
	spoil := func(at int, v byte) []byte {
		info := bytes.Clone(good)
		info[at] = v
		return info
	}
	for _, test := range []struct {
		info []byte
		want string
	}{
		{nil, "0 bytes are too few at offset 0x4a"},
		{good[:7], "7 bytes are too few at offset 0x4a"},
		{good[:8], "code_length 1 does not fit the attribute's 8 bytes at offset 0x4e"},
		{good[:10], "code_length 1 does not fit the attribute's 10 bytes at offset 0x4e"},
		{spoil(4, 0xFF), "code_length 4278190081 does not fit the attribute's 28 bytes at offset 0x4e"},
		{good[:11], "exception_table_length 1 does not fit the 0 bytes left at offset 0x53"},
		{good[:18], "exception_table_length 1 does not fit the 7 bytes left at offset 0x53"},
		{spoil(9, 0xFF), "exception_table_length 65281 does not fit the 17 bytes left at offset 0x53"},
		{good[:19], "it ends before attributes_count at offset 0x5d"},
		{good[:21], "attributes_count 1 does not fit the 0 bytes left at offset 0x5d"},
		{good[:27], "a/B of 1 bytes runs past the end at offset 0x61"},
		{spoil(22, 2), "name of attribute 0: constant pool index 2 is Class, want Utf8 at offset 0x5f"},
		{spoil(26, 2), "a/B of 2 bytes runs past the end at offset 0x61"},
		{spoil(26, 0), "1 bytes are left over at offset 0x65"},
		{append(bytes.Clone(good), 0), "1 bytes are left over at offset 0x66"},
	} {
		s := newSource()
		name := s.utf8("Code")
		s.methods = []memberSource{{0, 1, 1, []attributeSource{{name, test.info}}}}
		// The class continues behind the attribute: nothing of that may be read.
		s.attributes = []attributeSource{{1, make([]byte, 100)}}
		c := parse(t, s.bytes())
		_, ok, err := c.Code(&c.Methods()[0])
		if want := "class a/B: method a/Ba/B: Code: " + test.want; errorText(err) != want || ok {
			t.Errorf("%d bytes:\ngot  %v\nwant %s", len(test.info), err, want)
			continue
		}
		checkFormatError(t, c.Bytes(), err)
	}

	s := newSource()
	name := s.utf8("Code")
	s.methods = []memberSource{{0, 1, 1, []attributeSource{{name, good}, {1, nil}, {name, good}, {1, nil}}}}
	c := parse(t, s.bytes())
	const want = "class a/B: method a/Ba/B: Code: a second Code attribute at offset 0x72"
	if _, _, err := c.Code(&c.Methods()[0]); errorText(err) != want {
		t.Errorf("two Code attributes: %v", err)
	}
}
