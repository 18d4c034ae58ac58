package assembly_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestBytes compares a class that uses every feature with bytes that were written by hand (JVMS 4.1, 4.4, 4.6).
func TestBytes(t *testing.T) {
	c := assembly.Class{Name: "T", Super: "S", Major: 50, Minor: 3, Methods: []assembly.Method{{
		Access: 9, Name: "f", Descriptor: "(I)V", Stack: 1, Locals: 1, Handlers: []string{"from to to any"},
		Code: "from: iload_0 | ifeq to | invokestatic T.g()V | to: return",
	}}}
	want := "cafebabe 0003 0032 000d" +
		"01 0001 54 | 07 0001 | 01 0001 53 | 07 0003 |" + // 1 Utf8 T, 2 Class, 3 Utf8 S, 4 Class
		"01 0001 66 | 01 0004 28492956 |" + // 5 Utf8 f, 6 Utf8 (I)V
		"01 0001 67 | 01 0003 282956 | 0c 0007 0008 | 0a 0002 0009 |" + // 7 g, 8 ()V, 9 NameAndType, 10 Methodref
		"01 0004 436f6465 | 01 0001 55 |" + // 11 Utf8 Code, 12 Utf8 U
		"0021 0002 0004 0000 0000 0001" +
		"0009 0005 0006 0001 | 000b 0000001c | 0001 0001 00000008 | 1a 99 0006 b8 000a b1 |" +
		"0001 0000 0007 0007 0000 0000 | 0001 000c 00000000"
	c.Access = 0x21
	c.Attributes = []assembly.Attribute{{Name: "U"}}
	got := hex.EncodeToString(c.Bytes())
	if clean := strings.NewReplacer(" ", "", "|", "").Replace(want); got != clean {
		t.Errorf("got  %s\nwant %s", got, clean)
	}
}

func TestListing(t *testing.T) {
	c := assembly.Class{Name: "T", Methods: []assembly.Method{{
		Access: classfile.AccStatic, Name: "f", Descriptor: "()V", Stack: 9, Locals: 9,
		Handlers: []string{"a b b java/lang/Error"},
		Code: "a: bipush -3 | sipush 300 | ldc 70000 | ldc_w -1 | new U | getstatic U.x:I | invokestatic R.i(I)V | " +
			"invokestatic U.m()J | iload 7 | iinc 1 2 | b: goto_w a",
	}, {Name: "none", Descriptor: "()V"}}}.Parse()
	want := "0: bipush -3 | 2: sipush 300 | 5: ldc 70000 | 7: ldc_w -1 | 10: new U | 13: getstatic U.xI | 16: " +
		"invokestatic i | " +
		"19: invokestatic U.m()J | 22: iload 07 | 24: iinc 0102 | 27: goto_w 0 | 0-27 27 java/lang/Error"
	if got := assembly.Listing(c, &c.Methods()[0], "R"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := assembly.Listing(c, &c.Methods()[1], "R"); !strings.HasPrefix(got, "no code") {
		t.Errorf("got %s of a method without code", got)
	}
}
