package equivalence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Suspending code of Kotlin, and the classes whose instances continue it, are recognised here from what their class
// file says: not by what the injector knows.

// objectWords is how many words of stack a call needs that takes an object and an ID.
const objectWords = 2

// reported is what a call reports of an instance of a continuation class.
type reported uint8

const (
	reportedContinues reported = iota // the instance belongs to the call that makes it
	reportedStarts                    // the instance begins a call of its own
	reportedResumes                   // the instance is resumed
)

func (r reported) String() string { return reportNames()[r] }

// reportNames returns the names of the methods of the runtime class, by what they report.
func reportNames() []string { return []string{"continues", "starts", "resumes"} }

// instanceReport is a call that reports an instance: what, and before which instruction of the original.
type instanceReport struct {
	what reported
	orig int
}

// continuationClass says what instances of classes with this superclass are for: state is true if they hold the state
// of a suspend function, lambda if they are suspend lambdas.
func continuationClass(super string) (state, lambda bool) {
	switch strings.TrimPrefix(super, "kotlin/coroutines/jvm/internal/") {
	case super: // of another package
		return false, false
	case "ContinuationImpl", "RestrictedContinuationImpl":
		return true, false
	case "SuspendLambda", "RestrictedSuspendLambda":
		return false, true
	}
	return false, false
}

// isResumption reports whether a method is the one by which a continuation is resumed.
func isResumption(name, descriptor string) bool {
	return name == "invokeSuspend" && descriptor == "(Ljava/lang/Object;)Ljava/lang/Object;"
}

// isSuspending reports whether the result of a method says whether it waits.
func isSuspending(c *classfile.Class, m *classfile.Member) bool {
	if _, lambda := continuationClass(c.SuperName()); lambda && isResumption(m.Name, m.Descriptor) {
		return true
	}
	parameters := parametersOf(m.Descriptor)
	last := len(parameters) - 1
	if last < 0 || !strings.HasSuffix(m.Descriptor, ")Ljava/lang/Object;") {
		return false
	}
	const continuation = "Lkotlin/coroutines/Continuation;"
	if parameters[last] == continuation {
		return true
	}
	// A method for default values has one bit mask or more, and an Object.
	if parameters[last] != "Ljava/lang/Object;" {
		return false
	}
	masks := 0
	for last--; last >= 0 && parameters[last] == "I"; last-- {
		masks++
	}
	return masks > 0 && last >= 0 && parameters[last] == continuation
}

// parametersOf returns the parameters of a method descriptor (JVMS 4.3.3), none for a malformed one.
func parametersOf(descriptor string) (parameters []string) {
	inside, _, ok := strings.Cut(strings.TrimPrefix(descriptor, "("), ")")
	if !ok {
		return nil
	}
	for len(inside) > 0 {
		size := 0
		for size < len(inside) && inside[size] == '[' {
			size++
		}
		if size < len(inside) && inside[size] == 'L' {
			size += strings.IndexByte(inside[size:], ';')
		}
		if size++; size < 1 || size > len(inside) {
			return nil
		}
		parameters, inside = append(parameters, inside[:size]), inside[size:]
	}
	return parameters
}

// instanceReports returns the calls that a method of the original must have by which it reports instances. old is the
// method, and before its code.
func (r *checker) instanceReports(old *classfile.Member, before *classfile.Code) (reports []instanceReport) {
	state, lambda := continuationClass(r.original.SuperName())
	switch {
	case r.want.Continuation == 0 || !state && !lambda:
	case isResumption(old.Name, old.Descriptor) && old.AccessFlags&classfile.AccStatic == 0:
		return []instanceReport{{reportedResumes, 0}}
	case old.Name == "<init>" && keepsThis(before.Bytecode):
		what := reportedContinues
		if lambda {
			what = reportedStarts
		}
		initialised, err := code.Initialisation(r.original.ConstantPool(), before)
		if err != nil {
			return nil // the injector refuses the method, so that any call is too much
		}
		for _, pc := range initialised.Calls {
			if in, err := code.At(before.Bytecode, pc); err == nil {
				reports = append(reports, instanceReport{what, pc + in.Size})
			}
		}
	}
	return reports
}

// keepsThis reports whether local variable 0 is only read in the whole code.
func keepsThis(bytecode []byte) bool {
	for in, err := range code.Instructions(bytecode) {
		if err != nil {
			return false
		}
		local, ok := in.Local()
		if !ok || local != 0 {
			continue
		}
		op := in.Op
		if op == code.Wide {
			op = code.Op(in.U1(0))
		}
		switch op.String()[1:] {
		case "store", "store_0":
			return false
		}
	}
	return true
}

// checkInstanceReports compares the calls by which the method reports instances with those that it must have.
func (r *checker) checkInstanceReports(old *classfile.Member, before *classfile.Code) {
	var got []instanceReport
	for _, c := range r.calls {
		if c.kind == callInstance {
			got = append(got, instanceReport{c.reports, c.orig})
		}
	}
	if want := r.instanceReports(old, before); !slices.Equal(got, want) {
		r.report(-1, ruleContinuation, fmt.Sprintf("calls before the original's %v", want), fmt.Sprint(got))
	}
}

// lacksReports reports whether an unchanged method lacks calls by which it must report instances.
func (r *checker) lacksReports(old *classfile.Member) bool {
	if r.want.Continuation == 0 || old.Name != "<init>" && !isResumption(old.Name, old.Descriptor) {
		return false
	}
	before, ok, err := r.original.Code(old)
	return ok && err == nil && len(r.instanceReports(old, &before)) > 0
}
