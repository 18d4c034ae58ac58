package generated

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// statement appends one statement, which leaves the stack empty.
func (b *body) statement() {
	statements := []func(){b.arithmetic, b.divide, b.trace, b.static, b.static, b.conditional, b.construct, b.raise,
		b.element, b.wide, b.monitor, b.longs, b.subroutine, b.linked, b.dynamicConstant, b.doubles, b.arrays, b.release}
	statements[b.IntN(len(statements))]()
}

func (b *body) arithmetic() {
	b.local("iload", 1, b.x)
	b.constantInt([]int{3, 1000, 1 << 20}[b.IntN(3)] + b.IntN(9))
	b.op([]string{"iadd", "imul", "ixor", "isub", "ishr"}[b.IntN(5)], -1)
	b.local("istore", -1, b.x)
}

// divide may throw an ArithmeticException.
func (b *body) divide() {
	b.constantInt(100)
	b.local("iload", 1, b.x)
	b.op("iconst_3", 1)
	b.op("iand", -1)
	b.op("idiv", -1)
	b.local("istore", -1, b.x)
}

func (b *body) trace() {
	b.local("iload", 1, b.x)
	b.call("invokestatic", -1, host, "value", "(I)V")
}

func (b *body) static() {
	b.local("iload", 1, b.x)
	b.call("invokestatic", 0, b.name, fmt.Sprintf("m%d", b.IntN(b.methods)), "(I)I")
	b.local("istore", -1, b.x)
}

// choice pushes one of two numbers, above a stack that is not empty.
func (b *body) choice(stack ...vtype) {
	var other, join label
	b.local("iload", 1, b.x)
	b.branch("ifge", -1, &other)
	b.constantInt(b.IntN(300))
	b.branch("goto", 0, &join)
	b.placeFrame(&other, b.live(), stack)
	b.local("iload", 1, b.x)
	b.placeFrame(&join, b.live(), append(stack, vtype{kind: 'I'}))
}

func (b *body) conditional() {
	b.local("iload", 1, b.x)
	b.choice(vtype{kind: 'I'})
	b.op("iadd", -1)
	b.local("istore", -1, b.x)
}

// construct has a branch while a new object is not initialised, and calls a method of it.
func (b *body) construct() {
	at := &label{len(b.code)}
	b.op("new", 1, u2(b.class(b.name))...)
	b.op("dup", 1)
	b.choice(vtype{kind: 'U', at: at}, vtype{kind: 'U', at: at})
	b.call("invokespecial", -2, b.name, "<init>", "(I)V")
	b.local("iload", 1, b.x)
	b.call("invokevirtual", -1, b.name, "v", "(I)I")
	b.local("istore", -1, b.x)
}

func (b *body) raise() {
	var skip label
	b.local("iload", 1, b.x)
	b.op("iconst_5", 1)
	b.op("iand", -1)
	b.branch("ifne", -1, &skip)
	b.throwNew(b.emitter, "java/lang/UnsupportedOperationException")
	b.placeFrame(&skip, b.live(), nil)
	b.op("nop", 0)
}

// element may throw an ArrayIndexOutOfBoundsException.
func (b *body) element() {
	if b.array < 0 {
		b.trace()
		return
	}
	b.local("aload", 1, b.array)
	b.local("iload", 1, b.x)
	b.constantInt(7)
	b.op("iand", -1)
	b.op("dup2", 2)
	b.op("iaload", -1)
	b.op("iconst_1", 1)
	b.op("iadd", -1)
	b.op("iastore", -3)
}

func (b *body) wide() {
	b.op("wide", 0)
	b.op("iinc", 0, u2(b.x, b.IntN(4000)-2000)...)
}

func (b *body) longs() {
	if b.long < 0 {
		b.arithmetic()
		return
	}
	b.combine("l", b.long, "ladd")
	b.op("l2i", -1)
	b.local("istore", -1, b.x)
}

// combine stores a local of two words, l or d, combined with x, and pushes the result.
func (b *body) combine(kind string, slot int, operation string) {
	b.local(kind+"load", 2, slot)
	b.local("iload", 1, b.x)
	b.op("i2"+kind, 1)
	b.op(operation, -2)
	b.op("dup2", 2)
	b.local(kind+"store", -2, slot)
}

// monitor has the handlers that javac writes for synchronized, one of which covers itself.
func (b *body) monitor() {
	if b.lock < 0 {
		b.divide()
		return
	}
	var start, end, next, after label
	at := &label{}
	b.call("invokestatic", 1, host, "lock", "()Ljava/lang/Object;")
	b.op("dup", 1)
	b.local("astore", -1, b.lock)
	b.op("monitorenter", -1)
	b.place(&start)
	b.divide()
	b.static()
	b.local("aload", 1, b.lock)
	b.op("monitorexit", -1)
	b.place(&end)
	b.branch("goto", 0, &next)
	b.placeFrame(at, b.base, []vtype{{kind: 'L', class: throwable}})
	b.local("aload", 1, b.lock)
	b.op("monitorexit", -1)
	b.place(&after)
	b.op("athrow", -1)
	b.placeFrame(&next, b.live(), nil)
	b.op("nop", 0)
	b.handlers = append(b.handlers, handler{start: &start, end: &end, at: at},
		handler{start: at, end: &after, at: at})
}

// subroutine is called twice, in versions that have them.
func (b *body) subroutine() {
	if b.major >= 50 {
		b.trace()
		return
	}
	var sub, next label
	b.branch("jsr", 0, &sub)
	b.line(10 + b.IntN(500))
	b.branch("jsr", 0, &sub)
	b.branch("goto", 0, &next)
	b.place(&sub)
	b.depth = 1
	b.maxStack = max(b.maxStack, 1)
	b.local("astore", -1, b.result)
	b.line(10 + b.IntN(500))
	b.divide()
	b.local("ret", 0, b.result)
	b.place(&next)
	b.op("nop", 0)
}

// linked calls a method by invokedynamic.
func (b *body) linked() {
	if !b.dynamic {
		b.static()
		return
	}
	nat := int(b.NameAndType(fmt.Sprintf("m%d", b.IntN(b.methods)), "(I)I"))
	b.local("iload", 1, b.x)
	b.op("invokedynamic", 0, u2(int(b.Constant(classfile.TagInvokeDynamic, u2(0, nat)...)), 0)...)
	b.local("istore", -1, b.x)
}

// dynamicConstant loads a constant of one word or of two that a bootstrap method makes, which may throw.
func (b *body) dynamicConstant() {
	if b.major < 55 {
		b.linked()
		return
	}
	n := b.IntN(4)
	if b.IntN(2) == 0 {
		c := b.Constant(classfile.TagDynamic, u2(1, int(b.NameAndType(fmt.Sprintf("c%d", n), "J")))...)
		b.op("ldc2_w", 2, u2(int(c))...)
		b.op("l2i", -1)
	} else {
		c := b.Constant(classfile.TagDynamic, u2(1, int(b.NameAndType(fmt.Sprintf("c%d", n), "I")))...)
		b.op("ldc_w", 1, u2(int(c))...)
	}
	b.local("istore", -1, b.x)
}

func (b *body) doubles() {
	if b.double < 0 {
		b.longs()
		return
	}
	b.combine("d", b.double, []string{"dadd", "dmul", "dsub", "drem", "ddiv"}[b.IntN(5)])
	switch b.IntN(3) {
	case 0:
		b.op("d2i", -1)
	case 1:
		b.op("d2f", -1)
		b.op("fconst_2", 1)
		b.op([]string{"fcmpl", "fcmpg"}[b.IntN(2)], -1)
	default:
		b.op("dconst_1", 2)
		b.op([]string{"dcmpl", "dcmpg"}[b.IntN(2)], -3)
	}
	b.local("istore", -1, b.x)
}

// arrays uses an array of another type than int, and may throw a NegativeArraySizeException or an ArrayStoreException.
func (b *body) arrays() {
	switch b.IntN(4) {
	case 0:
		b.op("iconst_2", 1)
		b.op("newarray", 0, 8)
		b.op("dup", 1)
		b.op("iconst_1", 1)
		b.local("iload", 1, b.x)
		b.op("bastore", -3)
		b.op("iconst_1", 1)
		b.op("baload", -1)
	case 1:
		b.op("iconst_2", 1)
		b.op("newarray", 0, 7)
		b.op("dup", 1)
		b.op("iconst_1", 1)
		b.local("iload", 1, b.x)
		b.op("i2d", 1)
		b.op("dastore", -4)
		b.op("iconst_1", 1)
		b.op("daload", 0)
		b.op("d2i", -1)
	case 2:
		b.local("iload", 1, b.x)
		b.op("iconst_3", 1)
		b.op("irem", -1)
		b.op("iconst_3", 1)
		b.op("multianewarray", -1, append(u2(b.class("[[I")), 2)...)
		b.op("arraylength", 0)
	default:
		b.op("iconst_2", 1)
		b.op("anewarray", 0, u2(b.class("java/lang/String"))...)
		b.op("dup", 1)
		b.local("iload", 1, b.x)
		b.op("iconst_1", 1)
		b.op("iand", -1)
		b.call("invokestatic", 1, host, "lock", "()Ljava/lang/Object;")
		b.op("aastore", -3)
		b.op("arraylength", 0)
	}
	b.local("istore", -1, b.x)
}

// release leaves a monitor that the method has not entered: an IllegalMonitorStateException.
func (b *body) release() {
	if b.IntN(4) > 0 {
		b.arithmetic()
		return
	}
	b.call("invokestatic", 1, host, "lock", "()Ljava/lang/Object;")
	b.op("monitorexit", -1)
}
