package pipeline

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// rewriteOptions are what rewriting depends on, besides decisions and class files. Goroutines share them.
type rewriteOptions struct {
	Inject   inject.Options // with the runtime class's name in the inputs
	Requires string         // the module that others are made to require
	Types    *typeChecker   // nil if types are not checked
	// Expected returns what the equivalence check must find.
	Expected func(inject.Options, inject.Request) equivalence.Instrumentation
}

// rewriteOutcome is the result of rewriting one class.
type rewriteOutcome struct {
	// Data is the class that is written: the original if there is a failure. The next class uses its memory.
	Data  []byte
	Calls int // of the runtime, that were inserted
	// Failure is why the class stays as it was; nil if nothing failed.
	Failure *plan.Rejection
	// Original is the class as it was read, not to be changed; nil unless [rewriter.Rewrite] read it. The next class
	// uses its memory.
	Original *zipfile.Inflated
}

// rewriter rewrites classes, one at a time; it keeps working memory. Make one for each goroutine.
type rewriter struct {
	options  rewriteOptions
	reader   classReader
	injector *inject.Injector
	checker  equivalence.Checker
	again    classfile.Parser // of the rewritten class
	output   []byte           // which is this
	traced   []inject.Traced
}

// newRewriter returns a Rewriter for the classes of a set.
func newRewriter(o rewriteOptions, set *input.Set) *rewriter {
	return &rewriter{options: o, reader: classReader{Set: set, Runtime: o.Inject.RuntimeClass},
		injector: inject.New(o.Inject)}
}

// classReader reads classes again that were scanned. It keeps working memory.
type classReader struct {
	Set     *input.Set // that has the classes
	Runtime string     // the runtime class, whose calls of an earlier run are taken out

	buffer   zipfile.Inflated
	original *zipfile.Inflated // of the last class
	parser   classfile.Parser
}

// Read returns a class without the calls of an earlier run, unless they are foreign. Its memory serves the next call.
// The file may not have changed since the scan: what was decided is about the class that it was.
func (r *classReader) Read(class int, by plan.Identity, foreign bool) (*classfile.Class, error) {
	original, err := r.Set.ReadAgain(class, &r.buffer)
	if err != nil {
		return nil, err
	}
	r.original = original
	data := original.Data
	if err := by.CheckBytes(class, data); err != nil {
		return nil, err
	}
	c, err := r.parser.Parse(data)
	if err == nil && !foreign {
		c, err = plan.Original(c, r.Runtime)
	}
	if err != nil || !by.SameClass(class, c) {
		return nil, input.Changed(r.Set.Classes[class].Where())
	}
	return c, nil
}

// Rewrite carries out what is decided about a class. An error is one of reading it.
func (r *rewriter) Rewrite(class int, by plan.Decisions) (rewriteOutcome, error) {
	task := by.Task(class, r.traced[:0])
	r.traced = task.Request.Methods
	c, err := r.reader.Read(class, by, task.Foreign)
	if err != nil {
		return rewriteOutcome{}, err
	}
	outcome := r.Apply(class, c, &task)
	outcome.Original = r.reader.original
	return outcome, nil
}

// Apply carries out a task on a class as [classReader.Read] returns it.
func (r *rewriter) Apply(class int, c *classfile.Class, task *plan.Task) rewriteOutcome {
	switch {
	case task.Requires:
		return r.require(class, c)
	case !task.Instruments(): // all that changes is what an earlier run inserted
		return rewriteOutcome{Data: c.Bytes()}
	}
	rewritten, err := r.injector.AppendRewrite(r.output[:0], c, task.Request)
	if err != nil {
		methods := make([]int, len(task.Request.Methods))
		for i, m := range task.Request.Methods {
			methods[i] = m.Method
		}
		outcome := rejected(c, err.Error())
		outcome.Failure.Refusals = r.injector.Try(c, methods, inject.FocusNone)
		return outcome
	}
	r.output = rewritten
	outcome := r.check(class, c, rewritten, func(again *classfile.Class) []verify.Finding {
		return r.checker.Check(c, again, r.options.Expected(r.options.Inject, task.Request))
	})
	if outcome.Failure == nil {
		outcome.Calls = r.injector.Calls()
	}
	return outcome
}

func rejected(c *classfile.Class, detail string) rewriteOutcome {
	return rewriteOutcome{Data: c.Bytes(), Failure: &plan.Rejection{Detail: detail}}
}

// require makes a module require the runtime's.
func (r *rewriter) require(class int, c *classfile.Class) rewriteOutcome {
	rewritten, err := inject.AddRequires(c, r.options.Requires)
	if err != nil {
		return rejected(c, err.Error())
	}
	return r.check(class, c, rewritten, func(again *classfile.Class) []verify.Finding {
		return equivalence.CheckModule(c, again, r.options.Requires)
	})
}

// check runs both checks on the rewritten bytes of a class: equivalent compares them with the original.
func (r *rewriter) check(class int, c *classfile.Class, rewritten []byte,
	equivalent func(again *classfile.Class) []verify.Finding) rewriteOutcome {
	again, err := r.again.Parse(rewritten)
	if err != nil {
		return rejected(c, "the rewritten class does not parse: "+err.Error())
	}
	if findings := equivalent(again); len(findings) > 0 {
		return rejected(c, findings[0].String())
	}
	if rejection := r.options.Types.Check(class, c, again); rejection != nil {
		return rewriteOutcome{Data: c.Bytes(), Failure: rejection}
	}
	return rewriteOutcome{Data: rewritten}
}

// Trial rewrites a class with all that a plan may ask for, and returns the facts with refusals and rejections. focus
// asks for a focus hook, if the class may get one. Plans rely on the checks finding the same with all other IDs.
func (r *rewriter) Trial(class int, facts *plan.Class, c *classfile.Class, focus bool) *plan.Class {
	if facts.Name == "module-info" && r.options.Requires != "" {
		return facts.Tried(r.Apply(class, c, &plan.Task{Requires: true}).Failure, nil)
	}
	task := plan.Trial(facts, r.options.Inject.Coroutines)
	var rejection, focusRejection *plan.Rejection
	if task.Instruments() {
		rejection = r.Apply(class, c, &task).Failure
	}
	if focus && !facts.Untouched && facts.FocusRefusal == "" {
		if task.Request.Focus = facts.Ancestry.Focus(); task.Request.Focus != inject.FocusNone {
			focusRejection = r.Apply(class, c, &task).Failure
		}
	}
	return facts.Tried(rejection, focusRejection)
}
