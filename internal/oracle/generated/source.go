package generated

import (
	_ "embed" // of the nested types
	"fmt"
	"math/rand/v2"
	"strings"
	"text/template"
)

// sourceProgram writes the Java source of a program.
type sourceProgram struct {
	*rand.Rand
	b       strings.Builder
	release int // of Java, 8 or later: newer syntax is used if it has it
	indent  int
	scope   []variable
	labels  []string // of the loops around, innermost last
	names   int      // counts variables and labels
	methods int
	left    int  // statements that may still be written in the method
	wide    bool // there is a method wide
	huge    int  // how many statements the method huge has; 0 without one
	seed    uint64
	guards  bool // switch expressions may have try statements
}

// variable is a local variable. Only one that is never assigned again can be used in a lambda.
type variable struct {
	name, kind string // kind is a type of javaKinds
	final      bool
}

// javaKinds are the types of variables.
var javaKinds = []string{"int", "int", "int", "int", "long", "long", "double", "float", "short", "char", "String",
	"String", "boolean", "int[]", "Object"}

// Source returns the source of a Java program that depends on the arguments only: class s.S with the seed behind it,
// with a method m0 as the programs of [Class] have it. It compiles with javac for that release of Java, 8 or later, and
// with ECJ if guarded is false: no switch expression has a try statement then. For those, ECJ 3.40 breaks off with an
// internal error, or writes classes that HotSpot refuses.
//
// It has loops with labels, each kind of switch, try with resources and finally that returns, locks, lambdas, method
// references, local, inner and anonymous classes with what they capture, default methods, bridges, enums with bodies,
// constructors that call each other, varargs, methods with hundreds of variables, huge methods, threads, and from the
// releases that have them on, records, sealed interfaces, patterns, and statements before the call of super.
func Source(seed uint64, release int, guarded bool) string {
	p := &sourceProgram{Rand: rand.New(rand.NewPCG(seed, uint64(release))), release: release, seed: seed, guards: guarded}
	p.wide = p.IntN(8) == 0
	if p.IntN(12) == 0 {
		p.huge = []int{600, 600, 3900}[p.IntN(3)] // the code of the last is longer than a jump of two bytes reaches
	}
	p.methods = 3 + p.IntN(4)
	p.line("package s;")
	p.line("import host.Host;")
	p.line("import java.util.*;")
	p.line("import java.util.function.*;")
	p.line("@SuppressWarnings(\"all\")")
	p.open("public final class S%d", seed)
	p.types(seed)
	for m := range p.methods {
		p.method(m)
	}
	if p.wide {
		p.wideMethod()
	}
	if p.huge > 0 {
		p.hugeMethod()
	}
	p.close()
	return p.b.String()
}

func (p *sourceProgram) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *sourceProgram) open(format string, args ...any) {
	p.line(format+" {", args...)
	p.indent++
}

func (p *sourceProgram) close() {
	p.indent--
	p.line("}")
}

func (p *sourceProgram) pick(texts ...string) string { return texts[p.IntN(len(texts))] }

func (p *sourceProgram) name(prefix string) string {
	p.names++
	return fmt.Sprint(prefix, p.names)
}

//go:embed types.java.tmpl
var typesText string

// nestedTypes is what a program's nested types depend on. Its numbers differ from program to program.
type nestedTypes struct {
	Seed    uint64
	Release int
	N       int
	Static  bool // there is a static initializer
}

// Mod returns the remainder of N.
func (n nestedTypes) Mod(by int) int { return n.N % by }

// types writes the nested types that all methods use.
func (p *sourceProgram) types(seed uint64) {
	n := nestedTypes{seed, p.release, p.IntN(100), p.IntN(3) == 0}
	if err := template.Must(template.New("types").Parse(typesText)).Execute(&p.b, n); err != nil {
		panic(err) // the template does not depend on anything but n
	}
}

// method writes a static method m with its number, which takes an int and returns one.
func (p *sourceProgram) method(m int) {
	p.scope = []variable{{name: "input", kind: "int", final: true}}
	p.labels = nil
	p.left = 8 + p.IntN(18)
	access := p.pick("static", "private static", "static synchronized", "protected static")
	if m == 0 {
		access = "public static"
	}
	p.open("%s int m%d(int input)", access, m)
	p.line("if (!Host.spend()) { return input; }")
	if m == 0 && p.wide {
		p.line("Host.value(wide(input));")
	}
	if m == 0 && p.huge > 0 {
		p.line("Host.value(huge(input));")
	}
	for p.left > 0 {
		p.statement(0)
	}
	p.line("return %s;", p.expression("int", 2))
	p.close()
}

// wideMethod has more variables than one byte can number.
func (p *sourceProgram) wideMethod() {
	p.open("static int wide(int input)")
	for k := range 260 {
		p.line("%s v%d = input + %d;", []string{"int", "long", "double"}[k%3], k, k)
	}
	p.line("Object lock = Host.lock();")
	p.open("synchronized (lock)")
	p.open("try")
	p.line("for (int k = 0; k < 3; k++) { v255 += k; v258 -= v256; }")
	p.line("if (v1 > 5) { throw new IllegalStateException(\"wide\" + v255); }")
	p.line("v252 += 300 / (v0 - 1);")
	p.indent--
	p.open("} catch (IllegalStateException late)")
	p.line("Host.caught(late);")
	p.line("v255 += 1000;")
	p.line("if (v254 > v3) { return (int) v257; }")
	p.indent--
	p.open("} finally")
	p.line("v258++;")
	p.line("Host.value(v258 + (int) v257);")
	p.close()
	p.close()
	p.line("return (int) (v0 + v1 + v2 + v252 + v254 + v255 + v256 + v257 + v258 + v259);")
	p.close()
}

// hugeMethod has many exits in a loop around all of its code.
func (p *sourceProgram) hugeMethod() {
	p.open("static int huge(int input)")
	p.line("int all = input;")
	p.open("for (int k = 0; k < 2 && Host.spend(); k++)")
	for k := range p.huge {
		p.line("all = all * 31 + %d;", p.IntN(70000))
		if k%20 == 0 {
			p.line("if ((all & 127) == %d) { return %d; }", p.IntN(1000), k)
		}
	}
	p.close()
	p.line("return all;")
	p.close()
}

// block writes statements between braces, whose variables are gone afterwards.
func (p *sourceProgram) block(depth int) {
	scope := len(p.scope)
	p.indent++
	for range 1 + p.IntN(3) {
		p.statement(depth + 1)
	}
	p.indent--
	p.scope = p.scope[:scope]
}

// named returns a variable of that kind, or false.
func (p *sourceProgram) named(kind string, final bool) (string, bool) {
	var fitting []string
	for _, v := range p.scope {
		if v.kind == kind && (v.final || !final) {
			fitting = append(fitting, v.name)
		}
	}
	if len(fitting) == 0 {
		return "", false
	}
	return fitting[p.IntN(len(fitting))], true
}

// expression returns an expression of that type.
func (p *sourceProgram) expression(kind string, depth int) string {
	return p.operand(kind, depth, false)
}

// operand is [sourceProgram.expression]; with final it is for the inside of a lambda, which cannot use all variables.
func (p *sourceProgram) operand(kind string, depth int, final bool) string {
	if name, ok := p.named(kind, final); ok && (depth <= 0 || p.IntN(3) == 0) {
		return name
	}
	of := func(kind string) string { return p.operand(kind, depth-1, final) }
	if depth <= 0 {
		return p.literal(kind)
	}
	switch kind {
	case "int":
		return "(" + p.whole(depth, final) + ")"
	case "long":
		return fmt.Sprintf("(%s %s %s)", of("int"), p.pick("* 3L +", "- 5L *", "+ 7L /"), of(p.pick("int", "long")))
	case "double":
		return fmt.Sprintf("(%s %s %s)", of("int"), p.pick("* 0.5 +", "/ 3.0 -"),
			of(p.pick("int", "long", "double", "float")))
	case "float":
		return fmt.Sprintf("(%s %s %s)", of(p.pick("int", "float")), p.pick("* 1.5f +", "/ 3f -", "%"),
			of(p.pick("short", "float")))
	case "short", "char":
		return fmt.Sprintf("((%s) (1 + %s))", kind, of(p.pick("int", "long", "float", "char")))
	case "String":
		texts := []string{
			fmt.Sprintf("(%s + %s)", of("String"), of(javaPrinted[p.IntN(len(javaPrinted))])),
			fmt.Sprintf("%s.substring(%s)", of("String"), of("int")),
			fmt.Sprintf("String.valueOf(%s)", of("int")),
			fmt.Sprintf("new Word(%s, %s).get()", of("String"), of("int")),
		}
		return texts[p.IntN(len(texts))]
	case "boolean":
		texts := []string{
			fmt.Sprintf("(%s %s %s)", of("int"), p.pick("<", ">", "==", "!=", "<=", ">="), of("int")),
			fmt.Sprintf("(%s %s %s)", of("boolean"), p.pick("&&", "||", "^"), of("boolean")),
			fmt.Sprintf("!%s", of("boolean")),
			fmt.Sprintf("%s.isEmpty()", of("String")),
			fmt.Sprintf("(%s > %s)", of("long"), of("double")),
			fmt.Sprintf("(%s instanceof String)", of("Object")),
		}
		return texts[p.IntN(len(texts))]
	case "int[]":
		return fmt.Sprintf("(new int[] {%s, %s, %s})", of("int"), of("int"), of("int"))
	default:
		return fmt.Sprintf("(Object) (%s)", of(p.pick("int", "String")))
	}
}

// javaPrinted are the types of what is appended to a String.
var javaPrinted = []string{"int", "long", "boolean", "String", "double", "float", "char", "short"}

// whole returns an expression of type int.
func (p *sourceProgram) whole(depth int, final bool) string {
	of := func(kind string) string { return p.operand(kind, depth-1, final) }
	texts := []func() string{
		func() string {
			operator := p.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>>")
			return fmt.Sprintf("(%s %s %s)", of("int"), operator, of("int"))
		},
		func() string { return fmt.Sprintf("(%s ? %s : %s)", of("boolean"), of("int"), of("int")) },
		func() string {
			return fmt.Sprintf("%s[%s %% 3]", p.pick("TABLE", "Values.ALL", of("int[]")), of("int"))
		},
		func() string { return fmt.Sprintf("(int) %s", of(p.pick("long", "double", "float"))) },
		func() string { return fmt.Sprintf("%s %s %s", of("char"), p.pick("+", "-", ">>"), of("short")) },
		func() string { return fmt.Sprintf("%s.length()", of("String")) },
		func() string { return fmt.Sprintf("sum(%s, %s)", of("int"), of("int")) },
		func() string { return fmt.Sprintf("sum(%s)", of("int[]")) },
		func() string { return fmt.Sprintf("Color.at(%s).mix(%s)", of("int"), of("int")) },
		func() string {
			return fmt.Sprintf("Shape.of(%s).%s(%s)", of("int"), p.pick("area", "twice"), of("int"))
		},
		func() string { return fmt.Sprintf("%s(%s)", p.pick("lockedStatic", "inner"), of("int")) },
		func() string { return fmt.Sprintf("m%d(%s)", p.IntN(p.methods), of("int")) },
		func() string { return fmt.Sprintf("first(%s, %s, %s)", of("int"), of("int"), of("boolean")) },
		func() string { return fmt.Sprintf("(Integer) %s", of("Object")) },
		func() string { return fmt.Sprintf("%s.hashCode()", of("String")) },
	}
	if p.release >= 14 {
		texts = append(texts, func() string { return p.chosen(of) }, func() string {
			return fmt.Sprintf("switch (Color.at(%s)) { case RED -> %s; case GREEN -> %s; case BLUE -> %s; }",
				of("int"), of("int"), of("int"), of("int"))
		})
	}
	if p.release >= 17 {
		texts = append(texts, func() string { return fmt.Sprintf("weight(tree(%s %% 4))", of("int")) },
			func() string { return fmt.Sprintf("new Point(%s, %s).far()", of("int"), of("String")) })
	}
	if p.release >= 21 {
		texts = append(texts, func() string { return fmt.Sprintf("risky(%s)", of("int")) })
	}
	if p.release >= 25 {
		texts = append(texts, func() string { return fmt.Sprintf("new Early(%s).get()", of("int")) })
	}
	return texts[p.IntN(len(texts))]()
}

// chosen returns a switch expression. Some compilers take a yield before a parenthesis for the name of a method.
func (p *sourceProgram) chosen(of func(kind string) string) string {
	y := p.name("y")
	return fmt.Sprintf("switch (%s) { case 0, 1 -> %s; case 2 -> { int %s = %s; yield 1 + %s; } default -> %s; }",
		of("int"), of("int"), y, of("int"), y, of("int"))
}

func (p *sourceProgram) literal(kind string) string {
	switch kind {
	case "int":
		return p.pick("0", "1", "2", "3", "7", "100", "40000", "counter", fmt.Sprint(p.IntN(1000000)))
	case "long":
		return p.pick("1L", "counter", "5000000000L")
	case "double":
		return p.pick("0.5", "1e9", "counter")
	case "float":
		return p.pick("1.5f", "3e38f", "counter")
	case "short", "char":
		return fmt.Sprintf("(%s) %s", kind, p.pick("70000", "65", "counter"))
	case "String":
		return p.pick(`"a"`, `"bc"`, `"text"`, `""`)
	case "boolean":
		return p.pick("Host.spend()", "(counter > 3)", "(counter++ > 10)")
	case "int[]":
		return p.pick("TABLE", "(new int[3])")
	default:
		return p.pick(`(Object) "o"`, "(Object) 7", "(Object) counter")
	}
}
