package pipeline

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// A driftCase is a class that a change of HotSpot's verifier is about, which came later to java.lang.classfile or has
// not come to it.
type driftCase struct {
	change, name string
	class        func(major uint16) *crafted.Class
	// links says whether HotSpot 17 links it (a class of version 61), and HotSpot 25 (one of version 69).
	links [2]bool
}

// driftInterfaces are the interfaces A, B that extends A, and Stranger, each with a method g.
func driftInterfaces() map[string][]byte {
	files := make(map[string][]byte)
	for _, of := range [][]string{{"A"}, {"B", "A"}, {"Stranger"}} {
		a := crafted.NewClass(61, "drift/"+of[0], "java/lang/Object")
		a.Access |= classfile.AccInterface | classfile.AccAbstract
		for _, name := range of[1:] {
			a.Interfaces = append(a.Interfaces, "drift/"+name)
		}
		a.Add(crafted.Method{Access: classfile.AccPublic, Name: "g", Descriptor: "()V", MaxLocals: 1,
			Code: crafted.Op(code.Return)})
		files[a.Name+".class"] = a.Bytes()
	}
	return files
}

// special calls a method of that owner by invokespecial, in a class that implements B.
func special(tag classfile.Tag, owner string) func(uint16) *crafted.Class {
	return func(major uint16) *crafted.Class {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		a.Interfaces = []string{"drift/B"}
		ref := a.Constant(tag, crafted.U2(a.ClassIndex(owner), a.NameAndType("g", "()V"))...)
		a.Add(crafted.Method{Access: classfile.AccPublic, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Invokespecial, crafted.U2(ref)...),
				crafted.Op(code.Return))})
		return a
	}
}

// static has a static method f with this code, and a frame at its last instruction.
func static(descriptor string, maxStack uint16, bytecode func(*crafted.Class) []byte) func(uint16) *crafted.Class {
	return func(major uint16) *crafted.Class {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		m := crafted.Method{Access: crafted.Static, Name: "f", Descriptor: descriptor, MaxStack: maxStack, MaxLocals: 1,
			Code: bytecode(a)}
		if last := len(m.Code) - 1; last > 0 && m.Code[last] == byte(code.Return) {
			m.Attributes = []crafted.Attribute{crafted.Frames(crafted.SameExtended(last))}
		}
		a.Add(m)
		return a
	}
}

// tableswitch has these bounds, and offsets to the return behind it for as many keys.
func tableswitch(low, high int32, keys int) func(uint16) *crafted.Class {
	return static("(I)V", 1, func(*crafted.Class) []byte {
		end := uint32(3 + 12 + 4*keys) // from the instruction at 1, whose operands begin at 4
		b := slices.Concat(crafted.Op(code.Iload0), crafted.Op(code.Tableswitch, 0, 0))
		for _, word := range []uint32{end, uint32(low), uint32(high)} {
			b = append(b, crafted.U2(uint16(word>>16), uint16(word))...)
		}
		for range keys {
			b = append(b, crafted.U2(0, uint16(end))...)
		}
		return append(b, byte(code.Return))
	})
}

// getfield reads a field of that owner from an argument.
func getfield(descriptor, owner string) func(uint16) *crafted.Class {
	return static("("+descriptor+")V", 1, func(a *crafted.Class) []byte {
		return slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Getfield,
			crafted.U2(a.Fieldref(owner, "length", "I"))...), crafted.Op(code.Pop, byte(code.Return)))
	})
}

// driftCases are the changes in the list of JDK-8361526 that a class file can show. The others are about redefined
// classes (8330606), the error of a verifier that runs out of memory (8267118, 8272096), and how the code is arranged
// (8349923). What 8340110 changed is not known here.
var driftCases = []driftCase{
	{"8350029", "invokespecial of a direct superinterface", special(classfile.TagInterfaceMethodref, "drift/B"),
		[2]bool{true, true}},
	{"8350029", "invokespecial of an indirect superinterface", special(classfile.TagInterfaceMethodref, "drift/A"),
		[2]bool{false, false}},
	{"8350029", "invokespecial of a strange interface", special(classfile.TagInterfaceMethodref, "drift/Stranger"),
		[2]bool{false, false}},
	{"8350029", "invokespecial of an indirect superinterface by a Methodref", special(classfile.TagMethodref, "drift/A"),
		[2]bool{true, false}},
	{"8350029", "invokespecial of a strange interface by a Methodref", special(classfile.TagMethodref, "drift/Stranger"),
		[2]bool{true, false}},
	{"8314295", "tableswitch of three keys", tableswitch(-1, 1, 3), [2]bool{true, true}},
	{"8314295", "tableswitch of all keys: their number overflows to 0", tableswitch(math.MinInt32, math.MaxInt32, 0),
		[2]bool{false, false}},
	{"8314295", "tableswitch whose number of keys overflows to a negative one", tableswitch(0, math.MaxInt32, 0),
		[2]bool{false, false}},
	{"8314295", "tableswitch whose number of keys overflows to a positive one",
		tableswitch(math.MinInt32, math.MaxInt32-2, 2), [2]bool{false, false}},
	{"8314295", "tableswitch with low above high", tableswitch(1, 0, 0), [2]bool{false, false}},
	{"8314295", "tableswitch of more keys than code has bytes", tableswitch(0, 65535, 3), [2]bool{false, false}},
	{"8270398", "getfield of an array", getfield("[I", "[I"), [2]bool{false, false}},
	{"8270398", "getfield of an array of another class", getfield("[I", "[Ljava/lang/String;"), [2]bool{false, false}},
	{"8262368", "a value returned by a method without one",
		static("(I)V", 1, func(*crafted.Class) []byte { return crafted.Op(code.Iload0, byte(code.Ireturn)) }),
		[2]bool{false, false}},
	{"8262368", "nothing returned by a method with a value",
		static("(I)I", 1, func(*crafted.Class) []byte { return crafted.Op(code.Return) }), [2]bool{false, false}},
}

// TestVerifierDrift verifies the classes of driftCases. HotSpot must link those that it is said to link, and Verify
// must agree with it.
//
// Invariant: The type check follows HotSpot where java.lang.classfile has fallen behind it.
func TestVerifierDrift(t *testing.T) {
	for k, row := range []struct {
		feature int
		major   uint16
	}{{17, 61}, {25, 69}} {
		dir := t.TempDir()
		var jobs []oracle.LinkJob
		for n, c := range driftCases {
			files := driftInterfaces()
			files["T.class"] = c.class(row.major).Bytes()
			jar := fixture.Write(t, filepath.Join(dir, fmt.Sprint(n, ".jar")), fixture.ZipOf(t, files))
			jobs = append(jobs, oracle.LinkJob{ID: fmt.Sprint(n), Jar: jar})
		}
		for n, c := range driftCases {
			result, err := Verify(t.Context(), VerifyConfig{Paths: []string{jobs[n].Jar}})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(result.Findings) == 0; got != c.links[k] {
				t.Errorf("version %d, %s: the type check says %v, want it to link: %v", row.major, c.name, result.Findings,
					c.links[k])
			}
		}
		jdk, err := oracle.FindJDK(row.feature)
		if err != nil && row.feature > 17 && errors.Is(err, oracle.ErrMissing) {
			t.Logf("not run: HotSpot %d: %v", row.feature, err)
			continue
		}
		oracle.Require(t, err)
		if jdk.Feature >= 25 && row.feature == 17 {
			t.Logf("not run: HotSpot 17: there is %d", jdk.Feature)
			continue
		}
		linked := oracle.Link(t, jdk, jobs)
		for _, r := range linked {
			if r.Class != "T" {
				continue
			}
			var n int
			if _, err := fmt.Sscan(r.Job, &n); err != nil {
				t.Fatal(err)
			}
			c := driftCases[n]
			message, _, _ := strings.Cut(r.Message, " | ")
			t.Logf("HotSpot %d, JDK-%s, %s: %s %s", jdk.Feature, c.change, c.name, r.Status, message)
			if (r.Status == oracle.Linked) != c.links[k] {
				t.Errorf("HotSpot %d, %s: %s, want it to link: %v", jdk.Feature, c.name, r.Status, c.links[k])
			}
		}
	}
}
