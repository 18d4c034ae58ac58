package types_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// oldClasses are classes with methods whose names have one odd character, in versions around those that changed the
// rules: every character of ASCII, characters of more bytes than they need, and some of two and three bytes. A class of
// version 45.0 has Code in the layout of 45.3, which is all that HotSpot reads.
func oldClasses() map[string][]byte {
	odd := []string{"\xc0\x80", "\xc1\xa1", "\xc1\xbf", "\xc0\xaf", "\xe0\x81\xa1", "\xc2\x80", "\xc3\xa9", "\xe2\x82\xac",
		"\xe4\xb8\xad", "\xe2\x88\x91"}
	for c := byte(1); c < 0x80; c++ {
		odd = append(odd, string([]byte{c}))
	}
	classes := make(map[string][]byte)
	add := func(minor, major uint16, name string) {
		a := crafted.NewClass(major, fmt.Sprintf("N%d", len(classes)), "java/lang/Object")
		a.Add(crafted.Method{Access: crafted.Static, Name: name, Descriptor: "()V", Code: crafted.Op(code.Return)})
		data := a.Bytes()
		copy(data[4:], crafted.U2(minor))
		classes[a.Name] = data
	}
	for _, c := range odd {
		for _, major := range []uint16{46, 47, 48, 49} {
			add(0, major, "a"+c)
			add(0, major, c+"a")
		}
	}
	for _, name := range []string{"x/", "x/y/", "/x", "/", "x//y", "x/1", "x/y", "/x/", "x\xc0\xaf"} {
		for _, major := range []uint16{47, 48, 49} {
			a := crafted.NewClass(major, fmt.Sprintf("N%d", len(classes)), "java/lang/Object")
			if !strings.HasSuffix(name, "/") { // HotSpot 25 refuses such a class name, HotSpot 17 does not
				a.ClassIndex(name)
			}
			classes[a.Name] = a.Bytes()
			a = crafted.NewClass(major, fmt.Sprintf("N%d", len(classes)), "java/lang/Object")
			a.Add(crafted.Method{Access: crafted.Static | classfile.AccNative, Name: "f", Descriptor: "(L" + name + ";)V"})
			classes[a.Name] = a.Bytes()
		}
	}
	for minor := range uint16(4) {
		add(minor, 45, "a")
	}
	return classes
}

// TestOldVersions: names before version 49 and the minor versions of 45 are checked as HotSpot checks them.
func TestOldVersions(t *testing.T) {
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	classes := oldClasses()
	path := writeJar(t, classes)
	for _, jdk := range jdks {
		results := oracle.Link(t, jdk, []oracle.LinkJob{{ID: "old", Jar: path}})
		if len(results) != len(classes) {
			t.Fatalf("JDK %d: %d of %d classes", jdk.Feature, len(results), len(classes))
		}
		refused := 0
		for _, r := range results {
			data := classes[r.Class]
			c, err := classfile.Parse(data)
			if err != nil {
				t.Fatalf("%s: %v", r.Class, err)
			}
			findings := types.Check(c, smallWorld(t))
			links := r.Status == oracle.Linked
			if !links {
				refused++
			}
			if links != (len(findings) == 0) {
				minor, major := c.Version()
				t.Errorf("JDK %d, version %d.%d, %+v: HotSpot says %s %s, found %v", jdk.Feature, major, minor,
					c.Methods(), r.Status, r.Message, findings)
			}
		}
		t.Logf("JDK %d: %d classes, %d refused", jdk.Feature, len(results), refused)
	}
}
