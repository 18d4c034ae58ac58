package dense

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/mapping"
)

// Method is the name of a method as reports write it: the class, a dot, the name. Methods of a class that have the
// same name are one, because a frame of a stack has no descriptor.
type Method string

func methodOf(m mapping.Identity) Method {
	return Method(strings.ReplaceAll(m.Class, "/", ".") + "." + m.Name)
}

// Short returns the method without its package.
func (m Method) Short() string {
	words := strings.Split(string(m), ".")
	return strings.Join(words[max(0, len(words)-2):], ".")
}

// Profile is where the time of the program's threads went. Time is in nanoseconds, or in samples.
type Profile struct {
	// Total is the time in any traced method.
	Total float64
	// Inclusive is by traced method the time in it and what it calls, that of recursive calls once. Self is the time
	// in it and no other traced method. Own is by any method the time in it and no other one at all.
	Inclusive, Self, Own map[Method]float64
	// Broken is the time of stacks that do not begin with a main method or a thread's run, and are not part of the
	// profile.
	Broken float64

	traced map[Method]bool
	bounds map[Kind]map[Method][2]float64 // by how much the time of an estimate may be less and more
}

func newProfile(traced map[Method]bool) *Profile {
	return &Profile{Inclusive: map[Method]float64{}, Self: map[Method]float64{}, Own: map[Method]float64{},
		traced: traced}
}

// Add adds the time of another profile.
func (p *Profile) Add(q *Profile) {
	p.Total += q.Total
	p.Broken += q.Broken
	for _, k := range Kinds {
		to := p.times(k)
		for m, t := range q.times(k) {
			to[m] += t
		}
	}
}

// add adds the time of a stack, whose innermost method comes first. It leaves out stacks without a traced method.
func (p *Profile) add(stack []Method, time float64) {
	seen := map[Method]bool{}
	for _, m := range stack {
		if !p.traced[m] {
			continue
		}
		if len(seen) == 0 {
			p.Self[m] += time
		}
		if !seen[m] {
			seen[m] = true
			p.Inclusive[m] += time
		}
	}
	if len(seen) > 0 {
		p.Total += time
		p.Own[stack[0]] += time
	}
}

// hidden are parts of names of classes whose frames a stack of Java does not show, but one of JFR does.
var hidden = []string{"$$Lambda", "java.lang.invoke.LambdaForm$", "java.lang.invoke.DirectMethodHandle$Holder",
	"java.lang.invoke.DelegatingMethodHandle$Holder", "java.lang.invoke.Invokers$Holder"}

// frames returns the methods of a stack of JFR, innermost first, without those that Java does not show, and without
// those of the runtime that the innermost method of the program has called.
func frames(s oracle.JFRStack) (stack []Method) {
	for _, text := range s.Methods {
		words := strings.SplitN(text, " ", 3)
		class := strings.ReplaceAll(words[0], "/", ".")
		if !slices.ContainsFunc(hidden, func(h string) bool { return strings.Contains(class, h) }) {
			stack = append(stack, Method(class+"."+words[1]))
		}
	}
	for k, m := range stack {
		if strings.HasPrefix(string(m), "dev.tracegen.runtime.AppMethodBeat.") {
			return stack[k+1:]
		}
	}
	return stack
}

// whole reports whether the outermost frame of a stack is the one that a thread begins with.
func whole(s oracle.JFRStack) bool {
	outer := s.Methods[len(s.Methods)-1]
	return strings.HasSuffix(outer, " main ([Ljava/lang/String;)V") || strings.HasPrefix(outer, "java/lang/Thread ")
}

// ReadJFR makes a profile of the samples in a file of JFR. Stacks whose outer frames are missing are counted only.
func (r *Prepared) ReadJFR(ctx context.Context, file string) (*Profile, error) {
	thread := "main"
	if r.Threads {
		thread = ""
	}
	stacks, err := oracle.JFRStacks(ctx, r.jdk, file, thread)
	if err != nil {
		return nil, err
	}
	p := newProfile(r.traced)
	for _, s := range stacks {
		stack := frames(s)
		if !whole(s) {
			if slices.ContainsFunc(stack, func(m Method) bool { return p.traced[m] }) {
				p.Broken += float64(s.Samples)
			}
			continue
		}
		p.add(stack, float64(s.Samples))
	}
	return p, nil
}

// Kind is one of the times of a method.
type Kind string

// The times: that of traced methods with what they call, that without other traced methods, and that without any
// other method, also of methods that are not traced: of libraries, of the JDK, native ones.
const (
	Inclusive Kind = "inclusive"
	Self      Kind = "self"
	Own       Kind = "own"
)

// Kinds are all kinds of time.
var Kinds = []Kind{Inclusive, Self, Own}

// Share returns the share of a method in percent.
func (p *Profile) Share(k Kind, m Method) float64 { return 100 * p.times(k)[m] / max(p.Total, 1) }

// bound notes by how much the time of a method may be less and more.
func (p *Profile) bound(k Kind, m Method, less, more int64) {
	if p.bounds == nil {
		p.bounds = map[Kind]map[Method][2]float64{Inclusive: {}, Own: {}}
	}
	b := p.bounds[k][m]
	p.bounds[k][m] = [2]float64{b[0] + float64(less), b[1] + float64(more)}
}

// Bounds returns the bounds of the share of a method, which are equal if it is no estimate.
func (p *Profile) Bounds(k Kind, m Method) (low, high float64) {
	b, share := p.bounds[k][m], p.Share(k, m)
	return share + 100*b[0]/max(p.Total, 1), share + 100*b[1]/max(p.Total, 1)
}

func (p *Profile) times(k Kind) map[Method]float64 {
	switch k {
	case Self:
		return p.Self
	case Own:
		return p.Own
	}
	return p.Inclusive
}

// Biggest returns the n methods with the greatest shares for which keep returns true, the greatest first.
func (p *Profile) Biggest(k Kind, n int, keep func(Method) bool) []Method {
	times := p.times(k)
	list := slices.DeleteFunc(slices.Collect(maps.Keys(times)), func(m Method) bool { return !keep(m) })
	slices.SortFunc(list, func(a, b Method) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	return list[:min(n, len(list))]
}
