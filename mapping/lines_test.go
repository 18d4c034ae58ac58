package mapping

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestLinesReadBack checks that readLines reads what WriteLines wrote, whatever the names of source files contain.
func TestLinesReadBack(t *testing.T) {
	var methods []Method
	for _, name := range []string{"a", "b", "c", "d"} {
		methods = append(methods, Method{Identity: Identity{"com/example/Foo", name, "()V"}})
	}
	m, err := Assign(methods, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{"Foo.java", "", "a/b c.d\tx.kt", "%41#\xc3\xa4.java"}
	want := map[uint32]SourceLine{}
	var list []SourceLine
	for i, method := range methods {
		id, _ := m.ByMethod(method.Identity)
		l := SourceLine{ID: id, Source: sources[i], First: 7 * i}
		want[id] = l
		list = append(list, l)
	}
	var text bytes.Buffer
	if err := m.WriteLines(&text, list); err != nil {
		t.Fatal(err)
	}
	got, err := ParseLines("lines.txt", text.String())
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest() != m.Digest() {
		t.Errorf("digest %s, want %s", got.Digest(), m.Digest())
	}
	for id, l := range want {
		if g, ok := got.ByID(id); !ok || g != l {
			t.Errorf("line of %d is %+v, want %+v", id, g, l)
		}
	}
	if _, ok := got.ByID(DispatchID); ok {
		t.Error("an ID that is not in the table has a line")
	}
}

func TestLinesRefused(t *testing.T) {
	const head = "# tracegen-lines 1\n# digest 00112233445566aa\n"
	for _, c := range []struct{ text, want string }{
		{"", "l.txt: not a table of source lines"},
		{"# tracegen-mapping 1\n", `l.txt:1: want "# tracegen-lines 1"`},
		{"# tracegen-lines 1\n17\tA.java\t1\n", "l.txt:2: want"},
		{"# tracegen-lines 1\n# digest 00112233445566aa\r\r\r\n", "l.txt:2: want"},
		{"# tracegen-lines 1\n# digest 00112233\n", "l.txt:2: want"},
		{head + "17\tA.java\n", "l.txt:3: want an ID"},
		{head + "x\tA.java\t1\n", "l.txt:3: "},
		{head + "17\tA%.java\t1\n", "l.txt:3: "},
		{head + "17\tA.java\t-1\n", "l.txt:3: "},
	} {
		_, err := ParseLines("l.txt", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, new(*FormatError)) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}
