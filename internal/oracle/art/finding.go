package art

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/mapping/r8"
)

// rejected matches the verifier's message: a method, the offset of an instruction if there is one, and what is wrong.
// The method is as in Java's source, with its result: "void a.B.c(int, java.lang.String[])".
var rejected = regexp.MustCompile(
	`(\S+) (\S+)\.([^.\s(]+)\((.*?)\) failed to verify: .*?: (?:\[0x([0-9A-Fa-f]+)\] )?(.*)$`)

// primitives are the descriptors of the primitive types.
var primitives = map[string]string{"void": "V", "boolean": "Z", "byte": "B", "short": "S", "char": "C", "int": "I",
	"long": "J", "float": "F", "double": "D"}

// Finding returns a verdict as a finding, as tracegen's own checks report one: its class, method and descriptor are
// those of the class file, before R8 renamed them if names is its mapping. Its offset is that in the DEX file, in
// units of 16 bits. want is the kind of the verdict that was expected.
func (v Verdict) Finding(want string, names *r8.Mapping) verify.Finding {
	f := v.finding(want)
	if names == nil {
		return f
	}
	if f.Method == "" {
		if class, ok := names.OriginalClass(f.Class); ok {
			f.Class = class
		}
		return f
	}
	m := names.Identify([]r8.Method{{Class: f.Class, Name: f.Method, Descriptor: f.Descriptor}})[0]
	f.Class, f.Method, f.Descriptor = m.Class, m.Name, m.Descriptor
	return f
}

func (v Verdict) finding(want string) verify.Finding {
	f := verify.Finding{Class: strings.ReplaceAll(v.Class, ".", "/"), Offset: -1, Rule: "ART", Want: want, Got: v.Kind}
	m := rejected.FindStringSubmatch(v.Message)
	if m == nil {
		if v.Message != "" {
			f.Got += ": " + v.Message
		}
		return f
	}
	f.Class, f.Method, f.Got = strings.ReplaceAll(m[2], ".", "/"), m[3], f.Got+": "+m[6]
	f.Descriptor = "("
	for name := range strings.SplitSeq(m[4], ", ") {
		f.Descriptor += descriptor(name)
	}
	f.Descriptor += ")" + descriptor(m[1])
	if at, err := strconv.ParseInt(m[5], 16, 32); err == nil {
		f.Offset = int(at)
	}
	return f
}

// descriptor returns the descriptor of a type that is named as in Java's source.
func descriptor(name string) string {
	element := strings.TrimRight(name, "[]")
	arrays := strings.Repeat("[", (len(name)-len(element))/2)
	switch {
	case name == "":
		return ""
	case primitives[element] != "":
		return arrays + primitives[element]
	}
	return arrays + "L" + strings.ReplaceAll(element, ".", "/") + ";"
}
