package equivalence

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// postWords is how many words of stack a probe needs: two words that it copies, and the ID.
const postWords = 3

// copies says which words a probe copies to the top of the stack.
type copies uint8

const (
	copiesNothing    copies = iota // it is no probe
	copiesTwo                      // dup2: the two words on top
	copiesBelowLong                // dup2_x2, pop2, dup2_x2: the two words below a long
	copiesFirstTwice               // dup, dup: the word on top, twice
	copiesFirst                    // dup: the word on top, which is no probe but a result
)

func (c copies) String() string {
	return [...]string{"no probe", "a probe of the two words on top", "a probe of the two words below a long",
		"a probe of the word on top", "the result"}[c]
}

// postKind is what a probe copies, and whether it calls the method posted that takes an int.
type postKind struct {
	copies copies
	what   bool
}

func (k postKind) String() string {
	if k.what {
		return k.copies.String() + " with an int"
	}
	return k.copies.String()
}

// postPoint is a call of the original that must have a probe.
type postPoint struct {
	pc, orig int
	kind     postKind
	has      bool
}

// copiesAt returns what the instructions at the start of rest copy, if they are those of a probe, and their length.
func copiesAt(rest []byte) (c copies, length int) {
	starts := func(ops ...code.Op) bool {
		if len(rest) < len(ops) {
			return false
		}
		for i, op := range ops {
			if code.Op(rest[i]) != op {
				return false
			}
		}
		return true
	}
	switch {
	case starts(code.Dup2):
		return copiesTwo, 1
	case starts(code.Dup2X2, code.Pop2, code.Dup2X2):
		return copiesBelowLong, 3
	case starts(code.Dup, code.Dup):
		return copiesFirstTwice, 2
	case starts(code.Dup):
		return copiesFirst, 1
	}
	return copiesNothing, 0
}

// probeFor returns the probe that a call by invokevirtual or invokeinterface of a method must have. The class that the
// call names does not matter: the receiver may be of any class that extends Handler, View, Executor and so on.
func probeFor(ref classfile.Ref) postKind {
	object := func(c copies) postKind { return postKind{copies: c} }
	const runnable, message = "Ljava/lang/Runnable;", "Landroid/os/Message;"
	switch ref.Name {
	case "post", "postAtFrontOfQueue":
		if ref.Descriptor == "("+runnable+")Z" {
			return object(copiesTwo)
		}
	case "postDelayed", "postAtTime":
		if ref.Descriptor == "("+runnable+"J)Z" {
			return object(copiesBelowLong)
		}
	case "sendMessage", "sendMessageAtFrontOfQueue":
		if ref.Descriptor == "("+message+")Z" {
			return object(copiesTwo)
		}
	case "sendMessageDelayed", "sendMessageAtTime":
		if ref.Descriptor == "("+message+"J)Z" {
			return object(copiesBelowLong)
		}
	case "sendEmptyMessage":
		if ref.Descriptor == "(I)Z" {
			return postKind{copiesTwo, true}
		}
	case "sendEmptyMessageDelayed", "sendEmptyMessageAtTime":
		if ref.Descriptor == "(IJ)Z" {
			return postKind{copiesBelowLong, true}
		}
	case "sendToTarget":
		if ref.Descriptor == "()V" {
			return object(copiesFirstTwice)
		}
	case "runOnUiThread", "execute":
		if ref.Descriptor == "("+runnable+")V" {
			return object(copiesTwo)
		}
	case "dispatch", "dispatchYield":
		if ref.Descriptor == "(Lkotlin/coroutines/CoroutineContext;"+runnable+")V" {
			return object(copiesFirstTwice)
		}
	}
	return postKind{}
}

// checkProbe checks that the probe directly before the instruction at pc, which stands at orig in the original, is the
// one for this instruction. It adds a call that must have a probe to posts.
func (b *body) checkProbe(op code.Op, pc, orig int, probe postKind) {
	want := postKind{}
	if op == code.Invokevirtual || op == code.Invokeinterface {
		in, _ := code.At(b.code.Bytecode, pc)
		if ref, err := b.pool.Ref(in.Constant()); err == nil {
			want = probeFor(ref)
		}
	}
	if probe.copies != copiesNothing && probe != want {
		b.report(pc, rulePost, want.String()+" before "+op.String(), probe.String())
	}
	if want.copies != copiesNothing {
		b.posts = append(b.posts, postPoint{pc: pc, orig: orig, kind: want, has: probe.copies != copiesNothing})
	}
}

// checkPosts checks that there is a probe before every call that posts, if they are asked for, and none otherwise. Code
// that no path reaches has none. checkStack must have computed the depths.
func (r *checker) checkPosts() {
	for _, p := range r.posts {
		_, reached := r.depths.At(p.orig)
		switch demanded := r.want.Posts && reached; {
		case demanded && !p.has:
			r.report(p.pc, rulePost, p.kind.String(), "none")
		case p.has && !demanded:
			r.report(p.pc, rulePost, "no probe before this call", p.kind.String())
		}
	}
}

// mostWords returns how many words of stack the calls of the current method need at most, for code with jsr.
func (b *body) mostWords() int {
	most := 1
	for _, c := range b.calls {
		if c.kind != callFocus {
			most = max(most, c.words())
		}
	}
	return most
}

// words returns how many words of stack a call needs, above those that are there.
func (c *call) words() int {
	switch {
	case c.kind == callPost:
		return postWords
	case c.kind == callFocus, c.kind == callInstance, c.result:
		return objectWords
	}
	return 1
}
