package filter

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// decideProfiled returns the decision of a profile on the method m of a class.
func decideProfiled(t *testing.T, o Options, text, class string, m method) Decision {
	t.Helper()
	var err error
	if o.Profile, err = ParseProfile("dir/p.txt", []byte(text)); err != nil {
		t.Fatal(err)
	}
	a := &assembler{}
	a.add(m)
	c := a.shaped(t, shape{name: class})
	cf := New(o).ForClass(c)
	body, _, err := c.Code(&c.Methods()[0])
	if err != nil {
		t.Fatal(err)
	}
	return cf.Decide(&c.Methods()[0], body)
}

// calling returns the code of a method that calls and has so many bytes.
func calling(size int) []byte {
	body := append([]byte{byte(code.New), 0, 1, byte(code.Pop)}, bytes.Repeat([]byte{byte(code.Nop)}, size-5)...)
	return append(body, byte(code.Return))
}

// TestProfile decides about methods by lines and by rules of a baseline profile.
//
// Invariant: A profile is applied to the names before R8, and only to methods with the same class, name and descriptor.
func TestProfile(t *testing.T) {
	by, err := r8.Parse("test", "com.example.Feed -> a.a:\n    void load() -> a\n")
	if err != nil {
		t.Fatal(err)
	}
	loop := append(calling(20)[:19], byte(code.Goto), 0xff, 0xf0, byte(code.Return))
	around := append(calling(16)[:15], byte(code.Iconst0), byte(code.Lookupswitch), 0, 0, 0, 0xff, 0xff, 0xff, 0xf0,
		0, 0, 0, 0, byte(code.Return))
	const line = "none 7 1 0 com.example.Feed load ()V\n"
	const start = "HSPLcom/example/Feed;->load()V\n"
	for _, row := range []struct {
		name, text, class, method string
		code                      []byte
		want                      string
	}{
		{"none", line, "com/example/Feed", "load", nil, "p.txt:1: 7 calls"},
		{"full", "full 7 1 0 com.example.Feed load ()V\n", "com/example/Feed", "load", nil, ""},
		{"another method", line, "com/example/Feed", "loaded", nil, ""},
		{"another descriptor", "none 7 1 0 com.example.Feed load ()I\n", "com/example/Feed", "load", nil, ""},
		{"a nested class", line, "com/example/Feed$Row", "load", nil, ""},
		{"start", start, "com/example/Feed", "load", nil, "p.txt:1: small, and on the start's path"},
		{"start, full", start + "full 7 1 0 com.example.Feed load ()V\n", "com/example/Feed", "load", nil, ""},
		{"start, big", start, "com/example/Feed", "load", calling(smallAtStart), ""},
		{"start, nearly big", start, "com/example/Feed", "load", calling(smallAtStart - 1), "small"},
		{"start, loop", start, "com/example/Feed", "load", loop, ""},
		{"start, loop by a switch", start, "com/example/Feed", "load", around, ""},
		{"hot, not start", "HPLcom/example/Feed;->load()V\n", "com/example/Feed", "load", nil, ""},
		{"start with an inline cache", "SLcom/example/Feed;->load()V+La/B;\n", "com/example/Feed", "load", nil, "small"},
		{"start of a package", "HSPLcom/example/**;->**(**)**\n", "com/example/x/Feed", "load", nil, "small"},
		{"start of a class", "SLcom/example/Feed;->lo*(**)**\n", "com/example/Feed", "load", nil, "small"},
		{"start of a class, nested", "SLcom/example/Feed;->lo*(**)**\n", "com/example/Feed$Row", "load", nil, ""},
		{"a class alone", "HSPLcom/example/Feed;\n", "com/example/Feed", "load", nil, ""},
	} {
		if row.code == nil {
			row.code = calling(20)
		}
		m := method{flags: classfile.AccStatic, name: row.method, descriptor: "()V", code: row.code}
		for _, o := range []Options{{}, {Rules: parseRules(t, "+com.example.**")}} {
			d := decideProfiled(t, o, row.text, row.class, m)
			if (d.Reason == ReasonProfile) != (row.want != "") || !strings.Contains(d.Detail, row.want) {
				t.Errorf("%s: %+v", row.name, d)
			}
		}
	}
	m := method{flags: classfile.AccStatic, name: "a", descriptor: "()V", code: calling(20)}
	if d := decideProfiled(t, Options{R8: by}, line, "a/a", m); d.Reason != ReasonProfile {
		t.Errorf("renamed: %+v", d)
	}
}

// TestProfileFiles reads what is wrong, adds profiles, and counts methods that are gone.
func TestProfileFiles(t *testing.T) {
	for text, want := range map[string]string{
		"# tracegen-profile 2\n":                     "p:1: a later version",
		"nine 1 1 1 a.B c ()V\n":                     `p:1: unknown level "nine"; did you mean none?`,
		"\nnone 1 1 1 a.B c\n":                       "p:2: a method has 7 fields, found 6",
		"none -1 1 1 a.B c ()V\n":                    `"-1" is no number of calls`,
		"none 1 x 1 a.B c ()V\n":                     `"x" is no number of milliseconds`,
		"none 1 1 1 a.B c ()V\nfull 1 1 1 a.B c ()V": "p:2: the method is in line 1 already",
		"none 1 1 1 a%zz c ()V\n":                    "p:1: ",
		"\xff":                                       "not UTF-8",
	} {
		if _, err := ParseProfile("p", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	p, err := ParseProfile("p", []byte("none 1 1 1 a.B c ()V\nnone 2 1 1 a.B d ()V\nHSPLa/B**x;->e(I)V\n"))
	if err != nil || p.Ignored != 1 {
		t.Fatal(err, p)
	}
	more, err := ParseProfile("q", []byte("full 3 1 1 a.B c ()V\nSLa/B;->e()V\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.Add(more)
	var text bytes.Buffer
	if n, err := p.WriteTo(&text); err != nil || n != int64(text.Len()) ||
		!strings.HasSuffix(text.String(), "\nfull 3 1 1 a.B c ()V\nnone 2 1 1 a.B d ()V\n") {
		t.Errorf("%v, %d bytes of\n%s", err, n, &text)
	}
	u := New(Options{Profile: p}).Unmatched()
	u.Class("a/B", func(i int) (name, descriptor string, ok bool) { return "d", "()V", i == 0 })
	if all, missing := u.Profile(); all != 2 || missing != 1 {
		t.Errorf("%d of %d are missing", missing, all)
	}
}

// FuzzParseProfile reads any bytes as a profile.
//
// Invariant: What is read of a profile is written back alike.
func FuzzParseProfile(f *testing.F) {
	f.Add([]byte(profileHead + "\nnone 1 2 3 a.B%20 c (I)V\nfull 18446744073709551615 0 0 a.B <init> ()V\n"))
	f.Add([]byte("HSPLa/B;->c(I)V+La/C;\nSLa/**;->**(**)**\nLa/B;\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProfile("p", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p:") {
				t.Errorf("no position: %v", err)
			}
			return
		}
		var first, second bytes.Buffer
		if _, err := p.WriteTo(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ParseProfile("p", first.Bytes())
		if err != nil {
			t.Fatalf("%v in\n%s", err, &first)
		}
		_, _ = again.WriteTo(&second)
		if first.String() != second.String() || len(again.Lines) != len(p.Lines) {
			t.Errorf("%s\nis read as\n%s", &first, &second)
		}
		if text := fmt.Sprint(p.onStart(mapping.Identity{Class: "a/B", Name: "c", Descriptor: "(I)V"})); len(text) > 100 {
			t.Errorf("%q", text)
		}
	})
}
