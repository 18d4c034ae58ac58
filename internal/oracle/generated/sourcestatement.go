package generated

import (
	"fmt"
	"slices"
	"strings"
)

// deepest is how deep statements nest.
const deepest = 4

// statement writes one statement and its parts.
func (p *sourceProgram) statement(depth int) {
	p.left--
	kinds := []func(depth int){
		p.declaration, p.declaration, p.assignment, p.assignment, p.print, p.abrupt, p.lambda, p.increment,
		p.thread,
	}
	if depth < deepest && p.left > 0 {
		kinds = append(kinds, p.branch, p.branch, p.loop, p.loop, p.choice, p.choice, p.attempt, p.attempt, p.doors, p.lock,
			p.classes, p.branch, p.labelled)
	}
	if p.release >= 14 && p.guards {
		kinds = append(kinds, p.guarded)
	}
	kinds[p.IntN(len(kinds))](depth)
}

// declare adds a variable to those that the following statements can use.
func (p *sourceProgram) declare(kind string, final bool) string {
	name := p.name("v")
	p.scope = append(p.scope, variable{name, kind, final})
	return name
}

func (p *sourceProgram) declaration(int) {
	kind := javaKinds[p.IntN(len(javaKinds))]
	value := p.expression(kind, 2)
	final := p.IntN(3) == 0
	name := p.declare(kind, final)
	if final {
		kind = "final " + kind
	}
	p.line("%s %s = %s;", kind, name, value)
}

// assignable returns a variable of that kind that may be assigned.
func (p *sourceProgram) assignable(kind string) (string, bool) {
	for _, v := range slices.Backward(p.scope) {
		if v.kind == kind && !v.final {
			return v.name, true
		}
	}
	return "", false
}

func (p *sourceProgram) assignment(depth int) {
	kind := javaKinds[p.IntN(len(javaKinds))]
	name, ok := p.assignable(kind)
	switch {
	case !ok:
		p.declaration(depth)
	case kind == "int[]" && p.IntN(2) == 0:
		p.line("%s[%s] %s %s;", name, p.expression("int", 1), p.pick("=", "+=", "^="), p.expression("int", 2))
	case kind == "int":
		p.line("%s %s %s;", name, p.pick("=", "+=", "-=", "*=", "/=", ">>="), p.expression("int", 2))
	case kind == "String":
		p.line("%s %s %s;", name, p.pick("=", "+="), p.expression("String", 2))
	default:
		p.line("%s = %s;", name, p.expression(kind, 2))
	}
}

func (p *sourceProgram) increment(int) {
	if name, ok := p.assignable("int"); ok {
		p.line("Host.value(%s);", fmt.Sprintf(p.pick("%s++", "--%s", "%s--", "++%s"), name))
		return
	}
	p.line("counter%s;", p.pick("++", "--", " += 3"))
}

func (p *sourceProgram) print(int) { p.line("Host.value(%s);", p.expression("int", 2)) }

// abrupt may end the method, a loop, or throw.
func (p *sourceProgram) abrupt(int) {
	p.open("if (%s)", p.expression("boolean", 1))
	switch n := p.IntN(6); {
	case n == 0:
		p.line("throw new %s(%s);", p.pick("IllegalStateException", "UnsupportedOperationException", "Error"),
			p.expression("String", 1))
	case n < 4 && len(p.labels) > 0:
		label := p.labels[p.IntN(len(p.labels))]
		if strings.HasPrefix(label, "block") {
			p.line("break %s;", label)
			break
		}
		p.line("%s;", p.pick("break", "continue", "break "+label, "continue "+label))
	default:
		p.line("return %s;", p.expression("int", 1))
	}
	p.close()
}

func (p *sourceProgram) branch(depth int) {
	p.line("if (%s) {", p.expression("boolean", 2))
	p.block(depth)
	for p.IntN(3) == 0 {
		p.line("} else if (%s) {", p.expression("boolean", 1))
		p.block(depth)
	}
	if p.IntN(2) == 0 {
		p.line("} else {")
		p.block(depth)
	}
	p.line("}")
}

// loop writes a loop, which ends when there is no fuel left.
func (p *sourceProgram) loop(depth int) {
	scope := len(p.scope)
	label := p.name("loop")
	p.labels = append(p.labels, label)
	end := "}"
	switch p.IntN(5) {
	case 0:
		p.line("%s: while (Host.spend() && %s) {", label, p.expression("boolean", 1))
	case 1:
		p.line("%s: do {", label)
		end = fmt.Sprintf("} while (Host.spend() && %s);", p.expression("boolean", 1))
	case 2:
		first, second := p.expression("int", 1), p.expression("int", 1)
		p.line("%s: for (int %s : new int[] {%s, %s}) {", label, p.declare("int", true), first, second)
	case 3:
		k := p.name("v")
		p.line("%s: for (Iterator<Integer> %s = Arrays.asList(1, %s, 3).iterator(); %s.hasNext() && Host.spend(); ) {",
			label, k, p.expression("int", 1), k)
		p.indent++
		p.line("final int %s = %s.next();", p.declare("int", true), k)
		p.indent--
	default:
		k := p.declare("int", true)
		p.line("%s: for (int %s = 0; %s < %d && Host.spend(); %s++) {", label, k, k, 2+p.IntN(6), k)
		p.scope[len(p.scope)-1].final = false // its value changes, so that no lambda can use it
		p.scope[len(p.scope)-1].kind = "counted"
	}
	p.block(depth)
	p.line("%s", end)
	p.scope, p.labels = p.scope[:scope], p.labels[:len(p.labels)-1]
}

// labelled writes a block that a break may leave.
func (p *sourceProgram) labelled(depth int) {
	label := p.name("block")
	p.labels = append(p.labels, label)
	p.line("%s: {", label)
	p.block(depth)
	p.indent++
	p.line("if (%s) { break %s; }", p.expression("boolean", 1), label)
	p.print(depth)
	p.indent--
	p.line("}")
	p.labels = p.labels[:len(p.labels)-1]
}

// thread writes a call in a thread of its own. It takes no lock that the thread around may hold.
func (p *sourceProgram) thread(int) {
	call := fmt.Sprintf(p.pick("Shape.of(%s).twice(%s)", "Color.at(%s).mix(%s)", "sum(%s, %s)", "inner(%s + %s)",
		"Values.make(%s)[%s]"), p.operand("int", 0, true), p.operand("int", 0, true))
	p.line("Host.thread(() -> Host.value(%s));", call)
}

// choice writes a switch statement.
func (p *sourceProgram) choice(depth int) {
	sorts := 3
	switch {
	case p.release >= 21:
		sorts = 6
	case p.release >= 14:
		sorts = 5
	}
	arrow := false
	var cases []string
	switch p.IntN(sorts) {
	case 0:
		p.line("switch (%s) {", p.expression("int", 1))
		cases = []string{"0", "1", "2", "7"}
		if p.IntN(2) == 0 {
			cases = []string{"-5", "100", "40000", "1000000"}
		}
	case 1:
		p.line("switch (%s) {", p.expression("String", 1))
		cases = []string{`"a"`, `"bc"`, `"Aa"`, `"BB"`} // the last two have the same hash
	case 2:
		p.line("switch (Color.at(%s)) {", p.expression("int", 1))
		cases = []string{"RED", "GREEN"}
	case 3:
		arrow = true
		p.line("switch (%s) {", p.expression("int", 1))
		cases = []string{"0, 1", "2", "3, 100"}
	case 4:
		arrow = true
		p.line("switch (%s) {", p.expression("String", 1))
		cases = []string{`"a", "text"`, `"bc"`}
	default:
		arrow = true
		p.line("switch (%s) {", p.expression("Object", 1))
		cases = []string{"String " + p.name("s") + " when counter > 3", "Integer " + p.name("i"), "null"}
	}
	p.indent++
	for _, c := range append(cases, "") {
		label := "case " + c
		if c == "" {
			label = "default"
		}
		if arrow {
			p.line("%s -> {", label)
			p.block(depth)
			p.line("}")
			continue
		}
		p.line("%s: {", label)
		p.block(depth)
		p.line("}")
		if p.IntN(3) > 0 {
			p.line("break;")
		}
	}
	p.indent--
	p.line("}")
}

// attempt writes a try statement with handlers, a finally, or both. What is thrown is noted with its stack trace.
func (p *sourceProgram) attempt(depth int) {
	p.line("try {")
	p.block(depth)
	n := p.IntN(4)
	if n > 0 {
		caught := p.name("e")
		p.line("} catch (%s %s) {", p.pick("RuntimeException", "IllegalStateException | ArithmeticException", "Throwable",
			"ArrayIndexOutOfBoundsException"), caught)
		p.indent++
		p.line("Host.caught(%s);", caught)
		if p.IntN(4) == 0 {
			p.line("if (%s) { throw %s; }", p.expression("boolean", 1), caught)
		}
		p.indent--
		p.block(depth)
	}
	if n == 0 || p.IntN(3) == 0 {
		p.line("} finally {")
		p.block(depth)
	}
	p.line("}")
}

// doors writes a try with resources.
func (p *sourceProgram) doors(depth int) {
	scope := len(p.scope)
	one, two := p.name("door"), p.name("door")
	p.line("try (Door %s = new Door(%s); Door %s = %s ? null : new Door(%s)) {", one, p.expression("int", 1), two,
		p.expression("boolean", 1), p.expression("int", 1))
	p.indent++
	value := p.expression("int", 1)
	p.line("int %s = %s.pass(%s);", p.declare("int", false), one, value)
	p.indent--
	p.block(depth)
	p.scope = p.scope[:scope]
	if p.IntN(2) == 0 {
		caught := p.name("e")
		p.line("} catch (IllegalStateException %s) {", caught)
		p.line("  Host.caught(%s);", caught)
		p.line("  for (Throwable t : %s.getSuppressed()) { Host.caught(t); }", caught)
	}
	p.line("}")
}

func (p *sourceProgram) lock(depth int) {
	p.line("synchronized (%s) {", p.pick("Host.lock()", "TABLE", "Color.RED"))
	p.block(depth)
	p.line("}")
}

// lambda writes a function that captures variables, and calls it.
func (p *sourceProgram) lambda(int) {
	f, a := p.name("f"), p.name("a")
	p.scope = append(p.scope, variable{a, "int", true})
	body := p.operand("int", 2, true)
	p.scope = p.scope[:len(p.scope)-1]
	switch p.IntN(7) {
	case 0:
		p.line("IntUnaryOperator %s = %s -> %s;", f, a, body)
	case 5:
		p.line("IntUnaryOperator %s = (IntUnaryOperator & java.io.Serializable) %s -> %s;", f, a, body)
	case 6:
		w := p.name("w")
		p.line("IntFunction<Word> %s = Word::new;", w)
		p.line("IntUnaryOperator %s = %s -> %s.apply(%s).size;", f, a, w, body)
	case 1:
		p.line("IntUnaryOperator %s = %s -> { if (%s > 5) { throw new IllegalStateException(\"lambda\" + %s); }", f, a, a, a)
		p.line("  return %s; };", body)
	case 2:
		p.line("IntUnaryOperator %s = %s;", f, p.reference())
	case 3:
		p.line("IntUnaryOperator %s = new IntUnaryOperator() {", f)
		p.line("  int calls; public int applyAsInt(int %s) { calls++; return %s; } };", a, body)
	default:
		p.line("IntUnaryOperator %s = ((IntUnaryOperator) %s -> %s).andThen(Color.GREEN::mix);", f, a, body)
	}
	p.line("Host.value(%s.applyAsInt(%s));", f, p.expression("int", 1))
}

// reference returns a method reference that takes an int and returns one.
func (p *sourceProgram) reference() string {
	return p.pick("Math::abs", "Color.BLUE::mix", "Shape.of(3)::twice",
		"TABLE.length > 2 ? Color.RED::mix : Math::abs", fmt.Sprintf("S%d::sum", p.seed), fmt.Sprintf("S%d::inner", p.seed))
}

// classes writes a local class that captures a variable, and uses it.
func (p *sourceProgram) classes(int) {
	if p.release >= 17 && p.IntN(3) == 0 {
		p.localRecord()
		return
	}
	name, object := p.name("Local"), p.name("o")
	captured := p.operand("int", 1, true)
	p.open("class %s extends Base<Integer>", name)
	p.line("int own = %s;", captured)
	p.line("%s(int a) { super(a %s, a, 3); own += size; }", name, p.pick("+ 1", "/ 2", "% 7"))
	p.line("@Override Integer get() { if (own == 5) { throw new Error(\"own\"); } return super.get() + own; }")
	p.close()
	p.line("Base<Integer> %s = new %s(%s);", object, name, p.expression("int", 1))
	p.line("Host.value(%s.get() + %s.compareTo(new Base<>(%s)));", object, object, p.expression("int", 1))
}

// localRecord writes a local record with a local interface, and uses it.
func (p *sourceProgram) localRecord() {
	name, part, object := p.name("Local"), p.name("Part"), p.name("o")
	p.line("interface %s { int a(); default int more() { return a() / (a() - 2); } }", part)
	p.line("record %s(int a, float... rest) implements %s {", name, part)
	p.line("  %s { if (a == 3) { throw new IllegalArgumentException(\"record\"); } }", name)
	p.line("  %s(String s) { this(s.length(), 1, 2); }", name)
	p.line("}")
	p.line("%s %s = new %s(%s);", part, object, name, p.expression(p.pick("int", "String"), 1))
	p.line("Host.value(%s.more() + %s);", object, p.expression("int", 1))
}

// guarded writes a switch expression that has a try statement, before which a compiler moves the operands that are on
// the stack into locals. There is no long among them: javac 17 breaks off then.
func (p *sourceProgram) guarded(int) {
	e := p.name("e")
	choice := fmt.Sprintf("switch (%s %% 3) { case 0, 1 -> { try { yield 1 + %s; } catch (%s %s) { Host.caught(%s); "+
		"yield 2 + %s; } finally { Host.value(%s); } } "+
		"case 2 -> { try { yield 3; } finally { if (%s) { throw new Error(\"late\"); } } } "+
		"default -> %s; }",
		p.expression("int", 1), p.expression("int", 1), p.pick("RuntimeException", "ArithmeticException"), e, e,
		p.expression("int", 1), p.expression("int", 1), p.expression("boolean", 1), p.expression("int", 1))
	switch p.IntN(3) {
	case 0:
		p.line("Host.value(%s + (%s));", p.expression("int", 0), choice)
	case 1:
		p.line("TABLE[%d] += %s;", p.IntN(3), choice)
	default:
		p.line("Host.value(sum(%s, %s, %s));", p.expression("int", 0), choice, p.expression("int", 0))
	}
}
