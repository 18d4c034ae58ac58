package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// AsmMethod is what ASM finds in a method with code.
type AsmMethod struct {
	// Job is the job's ID, Entry the class file's name in the jar.
	Job, Entry string
	// Class, Name and Desc are in the internal form.
	Class, Name, Desc string
	// Access holds the access flags, of the JVMS and of ASM.
	Access int
	// EntryIDs and ExitIDs are the arguments of the calls of i and o, in code order. An argument that is not a constant
	// is -1.
	EntryIDs, ExitIDs []int
	// Returns counts return instructions, reachable or not.
	Returns int
	// BareThrows counts athrow instructions that no exception range covers, without those of the handlers that Handlers
	// counts.
	BareThrows int
	// Handlers counts handlers that only report an exit and throw the exception on.
	Handlers int
	// Exposed counts reachable instructions after the entry that can throw and that no such handler covers. It must be
	// 0 in the mode exact.
	Exposed int
	// Faults describes what is wrong with the calls: a path that enters twice, leaves twice, or leaves without a
	// report, or a branch into an inserted sequence. It is empty if nothing is wrong.
	Faults string
}

// AsmClass is ASM's result for a class file.
type AsmClass struct {
	// Job is the job's ID, Entry the class file's name in the jar, Class its internal name.
	Job, Entry, Class string
	// Major is the major version.
	Major int
	// Subroutines reports whether a method of the class uses jsr.
	Subroutines bool
	// Error is empty if ASM accepts the class. It starts with "read: " if ASM's reader fails, and with "check: " if its
	// checker does.
	Error string
}

// AsmOptions are the options of [Disassemble].
type AsmOptions struct {
	// Runtime is the internal name of the runtime class; empty means tracegen's own.
	Runtime string
	// Check sends every class through ASM's CheckClassAdapter, which takes about three times as long as reading.
	Check bool
}

// DefaultRuntime is the internal name of the class that instrumented code calls.
const DefaultRuntime = "dev/tracegen/runtime/AppMethodBeat"

// Disassemble reads every class of the jars with ASM. It returns the results for classes and, for every method with
// code, its calls of the runtime, both sorted by job and then in the order of the jar. The jobs' dependencies are not
// used.
func Disassemble(t testing.TB, jobs []LinkJob, o AsmOptions) ([]AsmClass, []AsmMethod) {
	t.Helper()
	j := NeedJDK(t, 11)
	jars, err := asmJars(t.Context())
	Require(t, err)
	main := tool{name: "asm", release: 11, path: jars}.need(t, j)
	if o.Runtime == "" {
		o.Runtime = DefaultRuntime
	}
	what := "read"
	if o.Check {
		what = "check"
	}
	args := []string{"-Xmx1g", "-Xss8m", "-XX:+UseParallelGC", "-cp", classPath(append(jars, main)...),
		"dev.tracegen.oracle.Disassemble"}
	var v asmVerdicts
	batch(t, j, args, jobs, []string{strconv.Itoa(linkThreads), o.Runtime, what}, v.add)
	// The sort is stable: jobs are read in parallel, but the rows of each come in order.
	slices.SortStableFunc(v.classes, func(a, b AsmClass) int { return strings.Compare(a.Job, b.Job) })
	slices.SortStableFunc(v.methods, func(a, b AsmMethod) int { return strings.Compare(a.Job, b.Job) })
	return v.classes, v.methods
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// asmVerdicts collects the rows of both kinds.
type asmVerdicts struct {
	classes []AsmClass
	methods []AsmMethod
}

func (v *asmVerdicts) add(r []string) error {
	for k := range r {
		r[k] = unescape.Replace(r[k])
	}
	var bad error
	switch {
	case r[0] == "C" && len(r) == 7:
		v.classes = append(v.classes, AsmClass{
			Job: r[1], Entry: r[2], Class: r[3], Major: number(r[4], &bad),
			Subroutines: r[5] == "1", Error: r[6],
		})
	case r[0] == "M" && len(r) == 14:
		v.methods = append(v.methods, AsmMethod{
			Job: r[1], Entry: r[2], Class: r[3], Name: r[4], Desc: r[5],
			Access: number(r[6], &bad), EntryIDs: numbers(r[7], &bad), ExitIDs: numbers(r[8], &bad),
			Returns: number(r[9], &bad), BareThrows: number(r[10], &bad),
			Handlers: number(r[11], &bad), Exposed: number(r[12], &bad), Faults: r[13],
		})
	default:
		bad = fmt.Errorf("%d columns", len(r))
	}
	return bad
}

func number(s string, bad *error) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		*bad = err
	}
	return n
}

func numbers(s string, bad *error) []int {
	if s == "" {
		return nil
	}
	var list []int
	for _, f := range strings.Split(s, ",") {
		list = append(list, number(f, bad))
	}
	return list
}
