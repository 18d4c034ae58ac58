package generated

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

const (
	object    = "java/lang/Object"
	throwable = "java/lang/Throwable"
	host      = "host/Host"
)

var versions = []int{45, 46, 48, 49, 50, 50, 51, 52, 52, 55, 61}

// generator makes one class.
type generator struct {
	*rand.Rand
	pool    *pool
	name    string
	major   int
	methods int
	dynamic bool
}

// Class returns the class file of a program. It depends on the seed only, and has a method run(I)I.
func Class(seed uint64) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 17)), pool: &pool{},
		name: fmt.Sprintf("g/G%d", seed)}
	g.major = versions[g.IntN(len(versions))]
	g.methods = 2 + g.IntN(5)
	g.dynamic = g.major >= 51
	super, name := g.pool.class(object), g.pool.class(g.name)
	var methods [][]byte
	methods = append(methods, g.constructor())
	for k := range g.methods {
		access := classfile.AccPublic | classfile.AccStatic
		if k > 0 {
			if g.IntN(4) == 0 {
				access |= classfile.AccSynchronized
			}
		}
		methods = append(methods, g.method(access, fmt.Sprintf("m%d", k)))
	}
	methods = append(methods, g.method(classfile.AccPublic|g.IntN(2)*classfile.AccSynchronized, "v"))
	var attributes [][]byte
	attributes = append(attributes, g.pool.attribute("SourceFile", u2(g.pool.utf8("G.java"))))
	if g.dynamic {
		link := g.pool.ref(host, "link", "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"+
			"Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;")
		constant := g.pool.ref(host, "constant", "(Ljava/lang/invoke/MethodHandles$Lookup;"+
			"Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;")
		handle := func(method int) int {
			return int(g.pool.Constant(classfile.TagMethodHandle, append([]byte{6}, u2(method)...)...))
		}
		attributes = append(attributes, g.pool.attribute("BootstrapMethods", u2(2, handle(link), 0, handle(constant), 0)))
	}
	flags := classfile.AccPublic | 0x20
	minor := 0
	if g.major == 45 {
		minor = 3 // versions 45.0 to 45.2 have another layout of Code
	}
	body := slices.Concat(u2(flags, name, super, 0, 0, len(methods)), slices.Concat(methods...), u2(len(attributes)),
		slices.Concat(attributes...))
	return slices.Concat([]byte{0xCA, 0xFE, 0xBA, 0xBE}, u2(minor, g.major, int(g.pool.Count)), g.pool.Pool, body)
}

func (g *generator) member(access int, name, descriptor string, info []byte) []byte {
	return slices.Concat(u2(access, g.pool.utf8(name), g.pool.utf8(descriptor), 1), g.pool.attribute("Code", info))
}

// constructor has a branch before the call of the other constructor.
func (g *generator) constructor() []byte {
	e := &emitter{pool: g.pool, maxSlot: 2}
	before := []vtype{{kind: 'u'}, {kind: 'I'}}
	after := []vtype{{kind: 'L', class: g.name}, {kind: 'I'}}
	var skip, end label
	e.line(1)
	e.local("iload", 1, 1)
	e.branch("ifle", -1, &skip)
	e.op("iinc", 0, 1, 3)
	e.placeFrame(&skip, before, nil)
	e.line(2)
	e.local("aload", 1, 0)
	e.call("invokespecial", -1, object, "<init>", "()V")
	e.line(3)
	e.local("iload", 1, 1)
	e.constantInt(7)
	e.op("iand", -1)
	e.branch("ifne", -1, &end)
	e.line(4)
	g.throwNew(e, "java/lang/IllegalStateException")
	e.placeFrame(&end, after, nil)
	e.op("return", 0)
	return g.member(classfile.AccPublic, "<init>", "(I)V", e.attributeInfo(before, g.major >= 50, g.extended))
}

func (g *generator) extended() bool { return g.IntN(8) == 0 }

func (g *generator) throwNew(e *emitter, class string) {
	e.op("new", 1, u2(e.class(class))...)
	e.op("dup", 1)
	e.call("invokespecial", -1, class, "<init>", "()V")
	e.op("athrow", -1)
}

// body makes one method: a graph of blocks.
type body struct {
	*generator
	*emitter
	base   []vtype // locals of each block
	extra  []vtype // of which a block of level n has the first n
	x      int     // slots
	array  int
	lock   int
	long   int
	double int
	result int // of subroutines: the return address
	blocks []block
	out    label
	far    bool
	// unbalanced says that a return leaves a monitor entered, so that it throws an IllegalMonitorStateException. The
	// monitor is entered just before: the JVM throws it in place of any exception that leaves the method with the
	// monitor, and in the mode exact its line is then that of the handler.
	unbalanced bool
	level      int
	filler     int
}

type block struct {
	label
	level int
}

func (g *generator) method(access int, name string) []byte {
	b := &body{generator: g, emitter: &emitter{pool: g.pool}}
	if access&classfile.AccStatic == 0 {
		b.base = append(b.base, vtype{kind: 'L', class: g.name})
		b.x = 1
	}
	b.base = append(b.base, vtype{kind: 'I'})
	b.unbalanced = g.IntN(8) == 0
	initial := slices.Clone(b.base)
	b.locals()
	count := 2 + g.IntN(9)
	b.filler = 0
	if g.IntN(24) == 0 {
		b.filler = []int{31000, 32000, 40000, 63000}[g.IntN(4)] / count
		b.far = b.filler*count > 30000
	}
	for range count {
		b.blocks = append(b.blocks, block{level: g.IntN(len(b.extra) + 1)})
	}
	b.blocks[0].level = 0
	for i := range b.blocks {
		b.block(i)
	}
	b.placeFrame(&b.out, b.base, nil)
	b.local("iload", 1, b.x)
	b.op("ireturn", -1)
	if !b.unbalanced { // a handler that covers the return would be entered after the exit of the method
		b.ranges()
	}
	return g.member(access, name, "(I)I", b.attributeInfo(initial, g.major >= 50, g.extended))
}

func slots(list []vtype) (n int) {
	for _, v := range list {
		n += size(v)
	}
	return n
}

// add makes a new local of each block, and sets it.
func (b *body) add(v vtype) int {
	slot := slots(b.base)
	b.base = append(b.base, v)
	b.set(v, slot)
	return slot
}

func (b *body) set(v vtype, slot int) {
	switch v.kind {
	case 'I':
		b.op("iconst_3", 1)
		b.local("istore", -1, slot)
	case 'J':
		b.op("lconst_1", 2)
		b.local("lstore", -2, slot)
	case 'F':
		b.op("fconst_2", 1)
		b.local("fstore", -1, slot)
	case 'D':
		b.op("dconst_1", 2)
		b.local("dstore", -2, slot)
	default:
		b.op("aconst_null", 1)
		b.local("astore", -1, slot)
	}
}

func (b *body) locals() {
	b.array, b.lock, b.long, b.double = -1, -1, -1, -1
	if b.IntN(8) == 0 {
		for range 254 {
			b.base = append(b.base, vtype{kind: 'T'})
		}
	}
	if b.IntN(2) == 0 {
		b.array = b.add(vtype{kind: 'L', class: "[I"})
		b.constantInt(5)
		b.op("newarray", 0, 10)
		b.local("astore", -1, b.array)
	}
	if b.IntN(3) == 0 {
		b.lock = b.add(vtype{kind: 'L', class: object})
	}
	if b.IntN(2) == 0 {
		b.long = b.add(vtype{kind: 'J'})
	}
	if b.IntN(3) == 0 {
		b.double = b.add(vtype{kind: 'D'})
	}
	for range b.IntN(4) {
		b.extra = append(b.extra, []vtype{{kind: 'I'}, {kind: 'J'}, {kind: 'F'}, {kind: 'D'},
			{kind: 'L', class: "java/lang/String"}}[b.IntN(5)])
	}
	b.result = slots(b.base) + slots(b.extra)
	b.maxSlot = b.result + 1
	for len(b.base) > 0 && b.base[len(b.base)-1].kind == 'T' {
		b.base = b.base[:len(b.base)-1]
	}
}

func (b *body) live() []vtype { return slices.Concat(b.base, b.extra[:b.level]) }

// spend goes to the end of the method if there is no fuel.
func (b *body) spend() {
	b.call("invokestatic", 1, host, "spend", "()Z")
	b.jumpIf("ifeq", -1, &b.out)
}

func (b *body) jump(to *label) {
	if b.far {
		b.branch("goto_w", 0, to)
		return
	}
	b.branch("goto", 0, to)
}

var opposite = map[string]string{"ifeq": "ifne", "ifne": "ifeq", "iflt": "ifge", "ifge": "iflt"}

func (b *body) jumpIf(name string, change int, to *label) {
	if !b.far {
		b.branch(name, change, to)
		return
	}
	var skip label
	b.branch(opposite[name], change, &skip)
	b.branch("goto_w", 0, to)
	b.placeFrame(&skip, b.live(), nil)
}

func (b *body) block(i int) {
	b.level = b.blocks[i].level
	b.placeFrame(&b.blocks[i].label, b.live(), nil)
	b.line(10 + b.IntN(500))
	b.spend()
	for range b.IntN(5) {
		b.line(10 + b.IntN(500))
		b.statement()
	}
	for range b.filler / 3 {
		b.op("iinc", 0, byte(b.x), 1)
	}
	b.end(i)
}

// reach sets the locals that a block of the level needs.
func (b *body) reach(level int) {
	slot := slots(b.base)
	for k, v := range b.extra {
		if k >= b.level && k < level {
			b.set(v, slot)
		}
		slot += size(v)
	}
	b.level = max(b.level, level)
}

func (b *body) end(i int) {
	b.line(10 + b.IntN(500))
	target := func() *block {
		t := &b.blocks[b.IntN(len(b.blocks))]
		b.reach(t.level)
		return t
	}
	switch kind := b.IntN(10); {
	case kind < 4:
		t, u := target(), target()
		b.local("iload", 1, b.x)
		b.constantInt(1 + b.IntN(7))
		b.op("iand", -1)
		b.jumpIf([]string{"ifeq", "ifne"}[b.IntN(2)], -1, &t.label)
		b.jump(&u.label)
	case kind < 6 && i+1 < len(b.blocks):
		b.reach(b.blocks[i+1].level)
	case kind < 7:
		b.jump(&target().label)
	case kind < 8:
		b.choose([]*block{target(), target(), target(), target()})
	case kind < 9:
		if b.unbalanced {
			b.call("invokestatic", 1, host, "lock", "()Ljava/lang/Object;")
			b.op("monitorenter", -1)
		}
		b.local("iload", 1, b.x)
		b.op("ireturn", -1)
	default:
		b.throwNew(b.emitter, []string{"java/lang/IllegalStateException", "java/lang/Error"}[b.IntN(2)])
	}
}

// choose ends a block with a switch.
func (b *body) choose(to []*block) {
	b.local("iload", 1, b.x)
	b.constantInt(7)
	b.op("iand", -1)
	table := b.IntN(2) == 0
	name := map[bool]string{true: "tableswitch", false: "lookupswitch"}[table]
	from := len(b.code)
	b.op(name, -1)
	for len(b.code)%4 != 0 {
		b.code = append(b.code, 0)
	}
	offset := func(l *label) {
		b.fixups = append(b.fixups, fixup{len(b.code), from, true, l})
		b.code = append(b.code, 0, 0, 0, 0)
	}
	offset(&to[0].label)
	if table {
		b.code = append(append(b.code, u4(1)...), u4(len(to)-1)...)
	} else {
		b.code = append(b.code, u4(len(to)-1)...)
	}
	for k, t := range to[1:] {
		if !table {
			b.code = append(b.code, u4(k*2)...)
		}
		offset(&t.label)
	}
}

// ranges appends handlers, and random ranges over blocks and handlers.
func (b *body) ranges() {
	var end label
	places := make([]*label, 0, len(b.blocks)+4)
	for i := range b.blocks {
		places = append(places, &b.blocks[i].label)
	}
	catches := []string{"", throwable, "java/lang/RuntimeException", "java/lang/ArithmeticException", "java/lang/Error"}
	var handlers []handler
	for range b.IntN(4) {
		at, catch := &label{}, catches[b.IntN(len(catches))]
		stack := catch
		if stack == "" {
			stack = throwable
		}
		b.level = 0
		b.placeFrame(at, b.base, []vtype{{kind: 'L', class: stack}})
		places = append(places, at)
		handlers = append(handlers, handler{at: at, catch: catch})
		b.line(10 + b.IntN(500))
		if b.IntN(3) == 0 {
			// As a finally does.
			b.op("dup", 1)
			b.call("invokestatic", -1, host, "caught", "(Ljava/lang/Throwable;)V")
			var again label
			b.call("invokestatic", 1, host, "spend", "()Z")
			b.branch("ifne", -1, &again)
			b.op("pop", -1)
			b.jump(&b.out)
			b.placeFrame(&again, b.base, []vtype{{kind: 'L', class: stack}})
			b.op("athrow", -1)
			continue
		}
		b.call("invokestatic", -1, host, "caught", "(Ljava/lang/Throwable;)V")
		b.spend()
		t := &b.blocks[b.IntN(len(b.blocks))]
		b.reach(t.level)
		b.jump(&t.label)
	}
	b.place(&end)
	places = append(places, &end)
	for _, h := range handlers {
		for range 1 + b.IntN(2) {
			i := b.IntN(len(places) - 1)
			h.start, h.end = places[i], places[i+1+b.IntN(len(places)-i-1)]
			if h.start.pc < h.end.pc {
				b.handlers = append(b.handlers, h)
			}
		}
	}
}
