package mutate_test

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// disagreement is a mutant of which HotSpot and the type check say different things.
type disagreement struct {
	number    int // among the mutants of a jar
	kind      mutate.Kind
	variant   oracle.Variant
	maxMajor  int // the newest version that the JDK reads
	verdict   oracle.Verdict
	complaint string          // the type check's first finding, "" without one
	older     *oracle.Verdict // of HotSpot 17 for a class of a version up to 61, nil if it was not asked
}

func (d disagreement) major() int { return int(binary.BigEndian.Uint16(d.variant.Data[6:])) }
func (d disagreement) minor() int { return int(binary.BigEndian.Uint16(d.variant.Data[4:])) }

// explanations are the known differences of docs/verification.md. Each covers only what its function can see in the
// error that HotSpot reports; whatever none covers fails the test.
var explanations = []struct {
	rule   string
	covers func(disagreement) bool
}{
	// The type check assumes that a class which is not there fits.
	{"missing class", func(d disagreement) bool { return d.complaint == "" && d.verdict.MissingClass() }},
	// Two loaders with a class of one name are a property of the running program.
	{"loader constraint", func(d disagreement) bool {
		return d.complaint == "" && d.verdict.Exception == "java.lang.LinkageError" &&
			strings.HasPrefix(d.verdict.Message, "loader constraint violation")
	}},
	// A module does not export the package of a superclass.
	{"module", func(d disagreement) bool {
		return d.complaint == "" && d.verdict.Exception == "java.lang.IllegalAccessError" &&
			strings.Contains(d.verdict.Message, "does not export")
	}},
	// The type check follows HotSpot 17 for versions up to 61, and HotSpot 17 says of the mutant what it says.
	{"as HotSpot 17", func(d disagreement) bool {
		return d.older != nil && d.older.Linked == (d.complaint == "")
	}},
	// The type check knows later versions than the JDK, and does not ask whether preview features are enabled.
	{"newer version", func(d disagreement) bool {
		return d.complaint == "" && d.verdict.Exception == "java.lang.UnsupportedClassVersionError" &&
			(d.major() > d.maxMajor || d.minor() == 0xffff)
	}},
	// Before version 49, names with characters beyond ASCII are checked with Go's tables of Unicode, and names of classes
	// may end in a slash.
	{"identifier before version 49", func(d disagreement) bool {
		return d.major() < 49 && d.complaint == "" &&
			d.verdict.Exception == "java.lang.ClassFormatError" && illegalName.MatchString(d.verdict.Message)
	}},
	// HotSpot stops at the first method of version 50 that fails, in the order of the addresses of their names. If its
	// frames are malformed it throws; if they are wrong it infers the types of the whole class.
	{"order of methods in version 50", func(d disagreement) bool {
		return d.verdict.Linked && d.major() == 50 &&
			strings.Contains(d.complaint, ": JVMS 4.7.4: ") && failingMethods(d.variant.Data) > 1
	}},
	// Java Flight Recorder adds a <clinit> with an ldc of a class to events, which no version before 49 may have.
	{"method that HotSpot adds", func(d disagreement) bool {
		m := added.FindStringSubmatch(d.verdict.Message)
		return d.complaint == "" && d.verdict.Exception == "java.lang.VerifyError" && m != nil &&
			m[1] == d.variant.Class && !bytes.Contains(d.variant.Data, []byte("<clinit>"))
	}},
	// The fault is of another class, which HotSpot links first or loads to compare types.
	{"fault of another class", func(d disagreement) bool {
		return d.complaint == "" && (ofAnotherClass(d) || ofAnotherSubclass(d))
	}},
}

// failingMethods returns how many methods would fail if there were no second chance: with version 51.
func failingMethods(data []byte) int {
	data = slices.Clone(data)
	binary.BigEndian.PutUint16(data[6:], 51)
	c, err := classfile.Parse(data)
	if err != nil {
		return 0
	}
	var k types.Checker
	methods := map[string]bool{}
	for _, f := range k.Check(c).Findings {
		methods[f.Method+f.Descriptor] = true
	}
	return len(methods)
}

// illegalName is HotSpot's error for a name with a character that is not printable ASCII, or a slash at its end.
var illegalName = regexp.MustCompile(
	`^(Illegal (class|method|field) name|(Method|Field) "[^"]*" in class \S+ has illegal signature)` +
		` "[^"]*([^ -~][^"]*|/)"`)

// added is HotSpot's error for the class initializer of a class that it names.
var added = regexp.MustCompile(`^\(class: (\S+), method: <clinit> signature: \(\)V\) `)

// ofAnotherSubclass reports whether HotSpot refuses to load a subclass of the mutant that the mutant does not mention:
// another class that is linked with it does.
func ofAnotherSubclass(d disagreement) bool {
	m := inherits.FindStringSubmatch(d.verdict.Message)
	return m != nil &&
		strings.ReplaceAll(m[2], ".", "/") == d.variant.Class && m[1] != m[2] &&
		!bytes.Contains(d.variant.Data, []byte(strings.ReplaceAll(m[1], ".", "/")))
}

var inherits = regexp.MustCompile(
	`^class (\S+) (?:cannot inherit from final class |overrides final method )([^\s(]+?)(?:\.[^\s.(]+\(.*)?$`)

// subject matches the class that a VerifyError is about, of verification by inference and by type checking.
var subject = regexp.MustCompile(`^\(class: (\S+), method: |` +
	`^[^|]*\| Exception Details: \| +Location: \| +([^\s(]+)\.[^\s(.]+\(`)

// ofAnotherClass reports whether HotSpot's VerifyError is about a method of another class than the mutant: HotSpot
// links superclasses first.
func ofAnotherClass(d disagreement) bool {
	m := subject.FindStringSubmatch(d.verdict.Message)
	return d.verdict.Exception == "java.lang.VerifyError" && m != nil && m[1]+m[2] != d.variant.Class
}

// explain returns the rule that covers a disagreement.
func explain(d disagreement) (string, bool) {
	for _, e := range explanations {
		if e.covers(d) {
			return e.rule, true
		}
	}
	return "", false
}

// TestExplanationsAreNarrow: an error that names the mutant is not explained, whatever it says.
func TestExplanationsAreNarrow(t *testing.T) {
	failed := func(exception, message string) oracle.Verdict {
		return oracle.Verdict{Exception: "java.lang." + exception, Message: message}
	}
	for _, test := range []struct {
		verdict oracle.Verdict
		finding string
		rule    string
	}{
		{failed("NoClassDefFoundError", "b/C"), "", "missing class"},
		{failed("NoClassDefFoundError", "a/B (wrong name: a/C)"), "", ""},
		{failed("VerifyError", "Bad type | Exception Details: |   Location: |     a/B.run()V @3: x"), "", ""},
		{failed("VerifyError", "Bad type | Exception Details: |   Location: |     a/C.run(La/B;)V @3: x"), "",
			"fault of another class"},
		{failed("VerifyError", "(class: a/C, method: run signature: (La/B;)V) Stack size too large"), "",
			"fault of another class"},
		{failed("IncompatibleClassChangeError", "class a.C cannot inherit from final class a.B"), "",
			"fault of another class"},
		{failed("IncompatibleClassChangeError", "class a.D cannot inherit from final class a.B"), "", ""},
		{failed("IncompatibleClassChangeError", "class a.B cannot inherit from final class a.C"), "", ""},
		{failed("IncompatibleClassChangeError", "class a.C overrides final method a.B.run()La/B;"), "",
			"fault of another class"},
		{failed("IncompatibleClassChangeError", "class a.B overrides final method a.C.run()La/B;"), "", ""},
		{failed("VerifyError", "(class: a/B, method: <clinit> signature: ()V) Illegal type in constant pool"), "",
			"method that HotSpot adds"},
		{failed("VerifyError", "Cannot inherit from final class"), "", ""},
		{failed("VerifyError", "(class: a/B, method: run signature: ()V) Stack size too large"), "", ""},
		{failed("ClassFormatError", `Illegal method name "a.b" in class a/B`), "", ""},
		{failed("ClassFormatError", "Truncated class file"), "", ""},
		{failed("UnsupportedClassVersionError", "newer"), "", ""},
		{failed("IllegalAccessError", "class a.B cannot access its superclass a.C"), "", ""},
		{failed("LinkageError", "bad method type alias"), "", ""},
		{oracle.Verdict{Linked: true}, "a/B: JVMS 4.10.1.9: expected int, found long", ""},
	} {
		mutant := oracle.Variant{Class: "a/B", Data: []byte("\xca\xfe\xba\xbe\x00\x00\x00\x3d a/D")}
		d := disagreement{variant: mutant, maxMajor: 61, verdict: test.verdict, complaint: test.finding}
		if rule, _ := explain(d); rule != test.rule {
			t.Errorf("%v: %q, want %q", test.verdict, rule, test.rule)
		}
	}
	own := disagreement{maxMajor: 61,
		variant: oracle.Variant{Class: "a/B", Data: []byte("\xca\xfe\xba\xbe\x00\x00\x00\x2f <clinit>")},
		verdict: failed("VerifyError", "(class: a/B, method: <clinit> signature: ()V) Illegal type in constant pool")}
	if rule, explained := explain(own); explained {
		t.Errorf("a <clinit> of the mutant itself: %q", rule)
	}
}
