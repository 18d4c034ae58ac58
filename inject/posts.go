package inject

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// A probe stands directly in front of a call that posts a message. It calls
//
//	posted(Object target, Object posted, int id)   or   posted(Object target, int what, int id)
//
// with copies of the two operands that identify the message, and leaves the stack as it was. The first instructions of
// the probe make the copies. They depend on what lies above these operands on the stack:
//
//	pair     ..., target, posted          dup2
//	pairLong ..., target, posted, long    dup2_x2, pop2, dup2_x2
//	lone     ..., posted                  dup, dup; posted gets the same object twice: the target is not known
//
// dup2_x2 and pop2 move the long below the two words, and the second dup2_x2 copies these back above it.

// postForm is a form of probe: how it copies the operands, and which of the two methods it calls.
type postForm uint8

const (
	postPair postForm = iota
	postPairLong
	postLone
	postWhatPair
	postWhatPairLong
	postForms = iota
)

// copies returns the instructions that copy the operands.
func (f postForm) copies() []byte {
	switch f {
	case postPairLong, postWhatPairLong:
		return []byte{byte(code.Dup2X2), byte(code.Pop2), byte(code.Dup2X2)}
	case postLone:
		return []byte{byte(code.Dup), byte(code.Dup)}
	}
	return []byte{byte(code.Dup2)}
}

// postCalls has the methods whose calls get a probe, by name and descriptor. The class that a call names is the static
// type of the receiver and may be any class of the app: that it is a Handler or a View can only be seen at run time,
// where posted ignores other receivers.
var postCalls = map[[2]string]postForm{
	{"post", "(Ljava/lang/Runnable;)Z"}:                                              postPair,
	{"postAtFrontOfQueue", "(Ljava/lang/Runnable;)Z"}:                                postPair,
	{"postDelayed", "(Ljava/lang/Runnable;J)Z"}:                                      postPairLong,
	{"postAtTime", "(Ljava/lang/Runnable;J)Z"}:                                       postPairLong,
	{"sendMessage", "(Landroid/os/Message;)Z"}:                                       postPair,
	{"sendMessageAtFrontOfQueue", "(Landroid/os/Message;)Z"}:                         postPair,
	{"sendMessageDelayed", "(Landroid/os/Message;J)Z"}:                               postPairLong,
	{"sendMessageAtTime", "(Landroid/os/Message;J)Z"}:                                postPairLong,
	{"sendEmptyMessage", "(I)Z"}:                                                     postWhatPair,
	{"sendEmptyMessageDelayed", "(IJ)Z"}:                                             postWhatPairLong,
	{"sendEmptyMessageAtTime", "(IJ)Z"}:                                              postWhatPairLong,
	{"sendToTarget", "()V"}:                                                          postLone,
	{"runOnUiThread", "(Ljava/lang/Runnable;)V"}:                                     postPair,
	{"execute", "(Ljava/lang/Runnable;)V"}:                                           postPair,
	{"dispatch", "(Lkotlin/coroutines/CoroutineContext;Ljava/lang/Runnable;)V"}:      postLone,
	{"dispatchYield", "(Lkotlin/coroutines/CoroutineContext;Ljava/lang/Runnable;)V"}: postLone,
}

// postFormOf returns the form of the probe for the invokevirtual or invokeinterface at pc; ok is false if it gets none.
func postFormOf(pool *classfile.ConstantPool, bytecode []byte, pc int) (form postForm, ok bool) {
	ref, err := pool.Ref(binary.BigEndian.Uint16(bytecode[pc+1:]))
	if err != nil {
		return 0, false
	}
	form, ok = postCalls[[2]string{ref.Name, ref.Descriptor}]
	return form, ok
}

// insertProbe plans a probe in front of the call at pc. Code that no path reaches gets none.
func (p *methodPlan) insertProbe(b *block, form postForm, pc int) {
	depth, reached := p.depths.At(pc)
	if !reached {
		return
	}
	if len(p.probes[form]) == 0 {
		p.probes[form] = b.appendProbe(p.probes[form], p.push, form)
	}
	p.need, p.calls = max(p.need, depth+probeStackWords), p.calls+1
	p.insertions = append(p.insertions, code.Insertion{PC: pc, Bytecode: p.probes[form]})
}

// appendProbe appends the bytecode of a probe with the ID that push pushes.
func (b *block) appendProbe(out, push []byte, form postForm) []byte {
	index, descriptor := &b.postObject, postObjectDescriptor
	if form == postWhatPair || form == postWhatPairLong {
		index, descriptor = &b.postWhat, postWhatDescriptor
	}
	out = append(append(out, form.copies()...), push...)
	return appendInvoke(out, code.Invokestatic, b.runtimeMethod(index, postName, descriptor))
}

// hasProbe reports whether the method gets a probe.
func (p *methodPlan) hasProbe() bool {
	for i := range p.probes {
		if len(p.probes[i]) > 0 {
			return true
		}
	}
	return false
}
