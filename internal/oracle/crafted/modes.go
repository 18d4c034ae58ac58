package crafted

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// Mode is one way to instrument classes. Name is its name in messages, Options are what an injector is made with.
type Mode struct {
	Name    string
	Options inject.Options
	id      func(method int) uint32
}

// Modes are all exit modes, each with a runtime class and coroutines, one with entry calls behind the constructor call,
// and one with probes before calls that post messages. How an ID
// is pushed depends on its size: modes differ in that too, and one mixes all sizes in each class.
var Modes = func() (all []Mode) {
	ids := [...]func(m int) uint32{
		func(m int) uint32 { return uint32(m + 1) },
		mixedID,
		func(m int) uint32 { return uint32(1048573 - m) },
	}
	for i, exits := range inject.ExitModes() {
		options := inject.Options{RuntimeClass: inject.DefaultRuntimeClass, Exits: exits, Coroutines: true}
		all = append(all, Mode{exits.String(), options, ids[i%len(ids)]})
	}
	afterSuper := inject.Options{RuntimeClass: inject.MatrixRuntimeClass, ConstructorEntry: inject.EntryAfterSuper}
	posts := inject.Options{RuntimeClass: inject.DefaultRuntimeClass, Exits: inject.ExitsExact, Posts: true}
	return append(all, Mode{"after-super", afterSuper, func(m int) uint32 { return uint32(120 + m) }},
		Mode{"posts", posts, mixedID})
}()

func mixedID(m int) uint32 {
	sizes := [...]uint32{1, 5, 6, 127, 128, 32767, 32768, 1048573}
	return sizes[m%len(sizes)]
}

// Expected returns what the equivalence check must find in a class that was instrumented as r asks.
func (m Mode) Expected(r inject.Request) equivalence.Instrumentation {
	return plan.Expected(m.Options, r)
}

// Request asks for all that the injector takes of the class, but for calls in the runtime's own.
func (m Mode) Request(in *inject.Injector, c *classfile.Class) inject.Request {
	if inject.IsMappingInfo(c) {
		return inject.Request{Digest: "0123456789abcdef"}
	}
	var candidates []int
	for i := range c.Methods() {
		if _, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code"); ok {
			candidates = append(candidates, i)
		}
	}
	refused := make(map[int]bool)
	for _, r := range in.Try(c, candidates, inject.FocusNone) {
		refused[r.Method] = true
	}
	request := inject.Request{Coroutines: m.Options.Coroutines}
	for _, i := range candidates {
		if !refused[i] {
			request.Methods = append(request.Methods, inject.Traced{Method: i, ID: m.id(i)})
		}
	}
	if m.Options.Coroutines && len(refused) == 0 && continues(c) {
		request.Continuation = m.id(len(c.Methods()))
	}
	return request
}

// continues reports whether the class is one whose instances continue a call.
func continues(c *classfile.Class) bool {
	return slices.Contains([]string{"ContinuationImpl", "RestrictedContinuationImpl", "SuspendLambda",
		"RestrictedSuspendLambda"}, strings.TrimPrefix(c.SuperName(), "kotlin/coroutines/jvm/internal/"))
}

// ErrInject is wrapped by the error of [Mode.RoundTrip] if the injector refuses.
var ErrInject = errors.New("the injector refuses it")

// Rejection is the error of [Mode.RoundTrip] if the equivalence check has findings.
type Rejection struct{ Findings []verify.Finding }

// Error returns how many findings there are, and the first.
func (r *Rejection) Error() string {
	return fmt.Sprintf("%d findings, the first: %v", len(r.Findings), r.Findings[0])
}

// Injector returns a new injector for the mode.
func (m Mode) Injector() *inject.Injector { return inject.New(m.Options) }

// RoundTrip instruments the class, checks that it is equivalent to the original, strips it, and compares the result
// with the original byte by byte. It returns how many methods were traced.
func (m Mode) RoundTrip(in *inject.Injector, c *classfile.Class, request inject.Request) (traced int, err error) {
	if len(request.Methods) == 0 && request.Focus == inject.FocusNone && request.Digest == "" {
		return 0, nil
	}
	out, err := in.Rewrite(c, request)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrInject, err)
	}
	rewritten, err := classfile.Parse(out)
	if err != nil {
		return 0, fmt.Errorf("parse: %w", err)
	}
	if findings := equivalence.Check(c, rewritten, m.Expected(request)); len(findings) > 0 {
		return 0, &Rejection{findings}
	}
	stripped, removed, err := equivalence.Strip(rewritten, m.Options.RuntimeClass)
	if err != nil {
		return 0, fmt.Errorf("strip: %w", err)
	}
	if removed == 0 || !bytes.Equal(stripped, c.Bytes()) {
		return 0, fmt.Errorf("strip removed %d calls, and the result differs from the original", removed)
	}
	return len(request.Methods), nil
}

// Instrument returns the class with all that the mode asks for, and what the equivalence check must find in it. ok is
// false if nothing can be inserted.
func (m Mode) Instrument(t testing.TB, c *classfile.Class) (data []byte, want equivalence.Instrumentation, ok bool) {
	t.Helper()
	in := m.Injector()
	request := m.Request(in, c)
	request.Focus = FocusOf(c)
	if len(request.Methods) == 0 && request.Focus == inject.FocusNone && request.Digest == "" {
		return nil, equivalence.Instrumentation{}, false
	}
	data, err := in.Rewrite(c, request)
	if err != nil {
		t.Fatal(err)
	}
	return data, m.Expected(request), true
}

// FocusOf returns what the injector does about onWindowFocusChanged in a class, by its direct superclass alone.
func FocusOf(c *classfile.Class) inject.Focus {
	methods := c.Methods()
	switch {
	case c.SuperName() != "android/app/Activity":
		return inject.FocusNone
	case methods[len(methods)-1].Name == "onWindowFocusChanged":
		return inject.FocusHook
	}
	return inject.FocusAdd
}
