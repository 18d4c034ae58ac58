package crafted

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

const (
	continuationType = "Lkotlin/coroutines/Continuation;"
	anyType          = "Ljava/lang/Object;"
)

// stateMachine is a class as Kotlin makes for a suspend function, with constructors that no compiler writes: one leaves
// local variable 0 alone only up to the other constructor's call, and one calls two others. The function itself is in
// the same class, besides methods that look like suspend functions.
func stateMachine() *Class {
	const super = "kotlin/coroutines/jvm/internal/ContinuationImpl"
	a := NewClass(52, "Feed$load$1", super)
	init := Op(code.Invokespecial, U2(a.Methodref(super, "<init>", "("+continuationType+")V"))...)
	load := slices.Concat(Op(code.Aload0), Op(code.Aload1), init)
	public := uint16(classfile.AccPublic)
	a.Add(Method{public, "<init>", "(" + continuationType + ")V", 2, 2, append(load, byte(code.Return)), nil, nil})
	a.Add(Method{public, "<init>", "(" + continuationType + "I)V", 2, 3,
		slices.Concat(load, Op(code.AconstNull), Op(code.Astore0), Op(code.Return)), nil, nil})
	object := func(name string) []byte { return append([]byte{7}, U2(a.ClassIndex(name))...) }
	twice := slices.Concat(Op(code.Iload2), Branch(code.Ifeq, 1, 12), load, Branch(code.Goto, 9, 17), load,
		Op(code.Return))
	a.Add(Method{public, "<init>", "(" + continuationType + "Z)V", 2, 3, twice, nil, []Attribute{Frames(
		[]byte{12},
		slices.Concat([]byte{255}, U2(4, 3), object("Feed$load$1"), object("kotlin/coroutines/Continuation"), []byte{1},
			U2(0)))}})
	call := Op(code.Invokestatic, U2(a.Methodref("Feed$load$1", "load", "("+anyType+continuationType+")"+anyType))...)
	a.Add(Method{public, "invokeSuspend", "(" + anyType + ")" + anyType, 2, 2,
		slices.Concat(Op(code.Aload1), Op(code.Aload0), call, Op(code.Areturn)), nil, nil})
	// A dup in front of one areturn, a throw, and a branch to the other areturn.
	suspending := slices.Concat(Op(code.Aload0), Branch(code.Ifnull, 1, 7), Op(code.Aload0), Op(code.Dup),
		Op(code.Areturn), Op(code.Aload0), Branch(code.Ifnonnull, 8, 13), Op(code.AconstNull), Op(code.Athrow),
		Op(code.Aload0), Op(code.Areturn))
	frames := []Attribute{Frames([]byte{7}, []byte{5})}
	for _, parameters := range []string{anyType + continuationType, anyType + continuationType + "II" + anyType,
		anyType + "[" + continuationType, anyType + continuationType + anyType} {
		words := uint16(2)
		if parameters[len(parameters)-1] == ';' && len(parameters) > len(anyType+continuationType)+1 {
			words = 5
		}
		a.Add(Method{Static, "load", "(" + parameters + ")" + anyType, 2, words, suspending, nil, frames})
	}
	return a
}

// suspendLambda is a class as Kotlin makes for a suspend lambda, whose code branches to its start.
func suspendLambda() *Class {
	const super = "kotlin/coroutines/jvm/internal/SuspendLambda"
	a := NewClass(52, "Feed$load$2", super)
	init := Op(code.Invokespecial, U2(a.Methodref(super, "<init>", "(I"+continuationType+")V"))...)
	a.Add(Method{0, "<init>", "(" + continuationType + ")V", 3, 2,
		slices.Concat(Op(code.Aload0), Op(code.Iconst2), Op(code.Aload1), init, Op(code.Return)), nil, nil})
	a.Add(Method{classfile.AccPublic | classfile.AccFinal, "invokeSuspend", "(" + anyType + ")" + anyType, 1, 2,
		slices.Concat(Op(code.Aload1), Branch(code.Ifnull, 1, 0), Op(code.Aload1), Op(code.Areturn)), nil,
		[]Attribute{Frames([]byte{0})}})
	return a
}
