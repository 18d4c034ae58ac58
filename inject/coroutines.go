package inject

import (
	"encoding/binary"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Kotlin compiles a suspend function to a method with a Continuation as its last parameter, which returns the constant
// COROUTINE_SUSPENDED when it waits. A class of its own, the state machine, holds what the function needs afterwards:
// the function makes an instance in each call, whose invokeSuspend calls the function again. A suspend lambda is one
// class, whose invokeSuspend is the code of the lambda. Both are continuation classes here.
//
// With [Request].Coroutines the exit call in front of an areturn of suspending code is
//
//	dup; push ID; invokestatic o(Object,int)
//
// which sees whether the call returns or waits. A continuation class reports its instances, with [Request].Continuation
// as the ID: behind the call that initialises `this` in constructors, by continues(Object,int) or, of a lambda, by
// starts(Object,int); and in front of all else in invokeSuspend, by resumes(Object,int):
//
//	aload_0; push ID; invokestatic
//
// A constructor that writes local variable 0 gets no such call: there is no certainty that it holds `this`.

// continuationKind says what the instances of a class continue.
type continuationKind uint8

const (
	noContinuation continuationKind = iota
	ofFunction                      // the class is the state machine of a suspend function
	ofLambda                        // the class is a suspend lambda
)

// continuationClasses has the superclasses by which continuation classes are recognised.
var continuationClasses = map[string]continuationKind{
	coroutinePackage + "ContinuationImpl":           ofFunction,
	coroutinePackage + "RestrictedContinuationImpl": ofFunction,
	coroutinePackage + "SuspendLambda":              ofLambda,
	coroutinePackage + "RestrictedSuspendLambda":    ofLambda,
}

// ContinuedBy returns the method whose calls the instances of class c continue: of a suspend lambda its invokeSuspend,
// of the state machine of a suspend function the method of this function. ok is false for all other classes, also for a
// class that was written by hand and belongs to no function.
func ContinuedBy(c *classfile.Class) (continued MethodRef, ok bool) {
	switch continuationClasses[c.SuperName()] {
	case ofLambda:
		return MethodRef{c.Name(), resumeName, resumeDescriptor}, findMethod(c, resumeName, resumeDescriptor) != nil
	case ofFunction:
		continued, ok = enclosingMethod(c)
		return continued, ok && takesContinuation(continued.Descriptor)
	}
	return MethodRef{}, false
}

// enclosingMethod returns the method that the attribute EnclosingMethod names (JVMS 4.7.7).
func enclosingMethod(c *classfile.Class) (m MethodRef, ok bool) {
	a, ok := classfile.FindAttribute(c.Attributes(), "EnclosingMethod")
	if !ok || len(a.Info) != 4 {
		return MethodRef{}, false
	}
	var err error
	if m.Class, err = c.ConstantPool().ClassName(binary.BigEndian.Uint16(a.Info)); err != nil {
		return MethodRef{}, false
	}
	m.Name, m.Descriptor, err = c.ConstantPool().NameAndType(binary.BigEndian.Uint16(a.Info[2:]))
	return m, err == nil
}

// ReportsContinuation reports whether a method of a continuation class is one of those that report its instances: a
// constructor, or invokeSuspend.
func ReportsContinuation(m *classfile.Member) bool {
	if m.Name == "<init>" {
		return true
	}
	return m.Name == resumeName && m.Descriptor == resumeDescriptor && m.AccessFlags&classfile.AccStatic == 0
}

// suspends reports whether a method of a class of that kind is suspending code, whose result says whether it waits.
func suspends(kind continuationKind, m *classfile.Member) bool {
	if kind == ofLambda && m.Name == resumeName && m.Descriptor == resumeDescriptor {
		return true
	}
	return takesContinuation(m.Descriptor)
}

// takesContinuation reports whether a method with this descriptor is a suspend function: it returns Object, and its
// last parameter is a Continuation. In a method for default values, bit masks and an Object follow the Continuation.
func takesContinuation(descriptor string) bool {
	parameters, ok := strings.CutSuffix(descriptor, ")"+objectType)
	if !ok {
		return false
	}
	if defaults, ok := strings.CutSuffix(parameters, "I"+objectType); ok {
		if defaults = strings.TrimRight(defaults, "I"); endsInContinuation(defaults) {
			return true
		}
	}
	return endsInContinuation(parameters)
}

// endsInContinuation reports whether the last of these parameters is a Continuation. What precedes it has to be
// complete: the name of a class may end like the descriptor, and the parameter may be an array.
func endsInContinuation(parameters string) bool {
	before, ok := strings.CutSuffix(parameters, continuationType)
	if !ok {
		return false
	}
	_, _, err := code.DescriptorWords(before + ")V")
	return err == nil
}

// makeReport makes the call by which the method reports a continuation.
func (w *writer) makeReport() {
	p := &w.plan
	index, name := &w.block.resumes, resumesName
	if p.method.Name == "<init>" {
		if index, name = &w.block.continues, continuesName; w.kind == ofLambda {
			index, name = &w.block.starts, startsName
		}
	}
	bytecode := w.block.appendPushOf(append(p.report.bytecode, byte(code.Aload0)), w.continuation, w.block.continued)
	bytecode = appendInvoke(bytecode, code.Invokestatic, w.block.runtimeMethod(index, name, resultDescriptor))
	p.report = opening{bytecode, objectStackWords, 1}
}

// writesLocal0 reports whether an instruction writes local variable 0, whatever path leads there.
func writesLocal0(bytecode []byte) bool {
	for in, err := range code.Instructions(bytecode) {
		if err != nil {
			return true
		}
		op := in.Op
		if op == code.Wide {
			op = code.Op(in.U1(0))
		}
		if local, ok := in.Local(); ok && local == 0 && op >= code.Istore && op <= code.Astore3 {
			return true
		}
	}
	return false
}

// makeResult makes the bytecode of the exit call with the result unless it is made already.
func (p *methodPlan) makeResult(b *block) {
	if len(p.result) == 0 {
		p.result = append(append(p.result, byte(code.Dup)), p.push...)
		p.result = appendInvoke(p.result, code.Invokestatic, b.runtimeMethod(&b.result, exitName, resultDescriptor))
	}
}
