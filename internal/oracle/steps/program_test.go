package steps_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// program writes the source of a class Main and of classes whose methods call each other, mostly those before them, so
// that many are bounded: the code has branches, switches, handlers, arrays, objects, and here and there a loop, a
// lock, an array of any length, a lambda, or a recursion. Each method is reached by main.
type program struct {
	random *rand.Rand
	out    strings.Builder
}

const (
	classes         = 4
	methodsPerClass = 12
)

func source(seed uint64) string {
	p := &program{random: rand.New(rand.NewPCG(seed, 2))}
	p.line("public class Main {")
	p.line("  interface Face { int apply(int x); }")
	for c := range classes {
		p.class(c)
	}
	p.line("  public static void main(String[] args) {")
	p.line("    int x = 1;")
	p.line("    for (int i = -20; i < 20; i++) {")
	for c := range classes {
		p.line("      C%d c%d = new C%d(i);", c, c, c)
		for m := range methodsPerClass {
			p.line("      x ^= %s;", p.call(c, m, fmt.Sprintf("c%d", c), "i", "2"))
		}
	}
	p.line("    }")
	p.line("    System.out.println(x);")
	p.line("  }")
	p.line("}")
	return p.out.String()
}

func (p *program) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// kind is how method m of a class is declared: the same for all classes.
func kind(m int) string {
	return []string{"static", "private", "final", "", "static", "static synchronized"}[m%6]
}

func (p *program) call(c, m int, object, x, n string) string {
	if strings.HasPrefix(kind(m), "static") {
		return fmt.Sprintf("C%d.m%d(null, %s, %s)", c, m, x, n)
	}
	return fmt.Sprintf("%s.m%d(%s, %s, %s)", object, m, object, x, n)
}

// class writes a class: every second is final, and the others extend nothing either.
func (p *program) class(c int) {
	final := []string{"", "final "}[c%2]
	p.line("  static %sclass C%d {", final, c)
	p.line("    static int count; int field; C%d(int x) { field = x; count++; }", c)
	for m := range methodsPerClass {
		p.line("    %s int m%d(C%d that, int x, int n) {", kind(m), m, c)
		for range 1 + p.random.IntN(4) {
			p.statement(c, m, 0)
		}
		p.line("      return x;")
		p.line("    }")
	}
	p.line("  }")
}

// statement writes a statement of method m of class c, which changes x.
func (p *program) statement(c, m, depth int) {
	k := p.random.IntN(9)
	if p.random.IntN(20) == 0 {
		k = 9 + p.random.IntN(6)
	}
	if depth > 2 {
		k %= 4
	}
	block := func(format string, args ...any) {
		p.line("      "+format+" {", args...)
		p.statement(c, m, depth+1)
		p.line("      }")
	}
	n := p.random.IntN(9)
	switch k {
	case 0:
		p.line("      x = x * 31 + %d; count++;", n)
	case 1:
		p.line("      { int[] a = new int[%d]; a[x & 3] = %d; x += a[1] + a[x & 3]; }", 4+p.random.IntN(70), n)
	case 2:
		p.line("      x += new C%d(x).field + Math.max(x, %d) + Integer.valueOf(x);", p.random.IntN(classes), n)
	case 3:
		p.line("      x = x > %d ? x - 1 : Integer.compare(x, %d);", n, n)
	case 4:
		block("if (x %% 3 == %d)", n%3)
		block("else")
	case 5:
		p.line("      switch (x & 3) {")
		for label := range 3 {
			p.line("      case %d:", label*(1+n%2))
			p.statement(c, m, depth+1)
			p.line("      %s", []string{"break;", ""}[p.random.IntN(2)])
		}
		p.line("      default: x--; }")
	case 6:
		block("try")
		block("catch (ArithmeticException e%d)", depth)
		block("finally")
	case 7, 8:
		p.calls(c, m)
	case 9:
		block("for (int i%d = 0; i%d < (x & 255); i%d++)", depth, depth, depth)
	case 10:
		p.line("      do { x = x * 7 + 1; } while ((x & 63) != 0 && x %% 5 != 0);")
	case 11:
		p.line("      for (int k = 0;; ) try { k++; x = 7 / (300 / k); } catch (ArithmeticException f) { break; }")
	case 12:
		p.line("      x += new int[x & 1023].length; synchronized (Main.class) { x++; }")
	case 13:
		p.line("      { int y = x; Face f = z -> z + y; x = f.apply(%d); }", n)
	case 14: // no recursion without end: n sinks
		p.line("      { C%d o = new C%d(x); if (n > 0) x += %s; }", c, c,
			p.call(c, min(m+1, methodsPerClass-1), "o", "x", "n - 1"))
	}
}

// calls writes a call of a method before this one: of the same class, or of one before it that is not private. n
// bounds how deep calls go, which a proof does not know.
func (p *program) calls(c, m int) {
	if c > 0 && p.random.IntN(3) == 0 {
		other, method := p.random.IntN(c), p.random.IntN(methodsPerClass)
		p.line("      if (n > 0) { C%d o = new C%d(x); x += %s; }", other, other, p.call(other, method, "o", "x", "n - 1"))
		return
	}
	if m > 0 {
		p.line("      if (n > 0) { C%d o = new C%d(x); x += %s; }", c, c, p.call(c, p.random.IntN(m), "o", "x", "n - 1"))
	}
}
