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
	inLoop  bool // break and continue are allowed: no lambda or switch is between
}

// variable is a local variable. Only one that is never assigned again can be used in a lambda.
type variable struct {
	name, kind string // kind is a type of javaKinds
	final      bool
}

// javaKinds are the types of variables.
var javaKinds = []string{"int", "int", "int", "long", "double", "String", "boolean", "int[]", "Object"}

// Source returns the source of a Java program that depends on the seed and the release only: class s.S with the seed
// behind it, with a method m0 as the programs of [Class] have it. It compiles with javac and ECJ for that release of
// Java, 8 or later.
//
// It has loops with labels, each kind of switch, try with resources and finally that returns, locks, lambdas, method
// references, local, inner and anonymous classes with what they capture, default methods, bridges, enums with bodies,
// constructors that call each other, varargs, methods with hundreds of variables, huge methods, and from the releases
// that have them on, records, sealed interfaces and patterns.
func Source(seed uint64, release int) string {
	p := &sourceProgram{Rand: rand.New(rand.NewPCG(seed, uint64(release))), release: release}
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
	if p.IntN(8) == 0 {
		p.wideMethod()
	}
	if p.IntN(12) == 0 {
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
	p.labels, p.inLoop = nil, false
	p.left = 8 + p.IntN(18)
	access := p.pick("static", "private static", "static synchronized", "protected static")
	if m == 0 {
		access = "public static"
	}
	p.open("%s int m%d(int input)", access, m)
	p.line("if (!Host.spend()) { return input; }")
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
	p.line("for (int k = 0; k < 3; k++) { v255 += k; v258 -= v256; }")
	p.line("if (v1 > 100) { throw new IllegalStateException(\"wide\" + v255); }")
	p.line("return (int) (v0 + v1 + v2 + v254 + v255 + v256 + v257 + v258 + v259);")
	p.close()
}

// hugeMethod has code of about 12,000 bytes and many exits.
func (p *sourceProgram) hugeMethod() {
	p.open("static int huge(int input)")
	p.line("int all = input;")
	for k := range 600 {
		p.line("all = all * 31 + %d;", p.IntN(70000))
		if k%20 == 0 {
			p.line("if (all == %d) { return %d; }", p.IntN(1000), k)
		}
	}
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
		texts := []func() string{
			func() string {
				operator := p.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>>")
				return fmt.Sprintf("(%s %s %s)", of("int"), operator, of("int"))
			},
			func() string { return fmt.Sprintf("(%s ? %s : %s)", of("boolean"), of("int"), of("int")) },
			func() string { return fmt.Sprintf("%s[%s %% 3]", p.pick("TABLE", of("int[]")), of("int")) },
			func() string { return fmt.Sprintf("(int) %s", of(p.pick("long", "double"))) },
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
		if p.release >= 17 {
			texts = append(texts, func() string { return fmt.Sprintf("weight(tree(%s %% 4))", of("int")) },
				func() string { return fmt.Sprintf("new Point(%s, %s).far()", of("int"), of("String")) })
		}
		if p.release >= 14 {
			texts = append(texts, func() string {
				y := p.name("y")
				return fmt.Sprintf("switch (%s) { case 0, 1 -> %s; case 2 -> { int %s = %s; yield %s; } default -> %s; }",
					of("int"), of("int"), y, of("int"), y, of("int"))
			})
		}
		return "(" + texts[p.IntN(len(texts))]() + ")"
	case "long":
		return fmt.Sprintf("(%s %s %s)", of("int"), p.pick("* 3L +", "- 5L *", "+ 7L /"), of(p.pick("int", "long")))
	case "double":
		return fmt.Sprintf("(%s %s %s)", of("int"), p.pick("* 0.5 +", "/ 3.0 -"), of(p.pick("int", "long", "double")))
	case "String":
		texts := []string{
			fmt.Sprintf("(%s + %s)", of("String"), of(p.pick("int", "long", "boolean", "String"))),
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

func (p *sourceProgram) literal(kind string) string {
	switch kind {
	case "int":
		return p.pick("0", "1", "2", "3", "7", "100", "40000", "counter", fmt.Sprint(p.IntN(1000000)))
	case "long":
		return p.pick("1L", "counter", "5000000000L")
	case "double":
		return p.pick("0.5", "1e9", "counter")
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
