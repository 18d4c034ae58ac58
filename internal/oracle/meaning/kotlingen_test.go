package meaning

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kotlinPrograms generates Kotlin programs of coroutines from the seeds: objects that implement Program of
// testdata/kotlinprograms. Each has some suspend functions that log their calls, and call each other with one depth
// less.
func kotlinPrograms(from, to uint64) string {
	var b strings.Builder
	b.WriteString("package programs\n\nimport kotlinx.coroutines.*\nimport kotlinx.coroutines.channels.*\n" +
		"import kotlinx.coroutines.flow.*\nimport kotlinx.coroutines.selects.*\n\n")
	var names []string
	for seed := from; seed < to; seed++ {
		g := kotlinGen{r: rand.New(rand.NewPCG(seed, 35)), name: fmt.Sprintf("P%d", seed)}
		b.WriteString(g.program(seed))
		names = append(names, g.name)
	}
	fmt.Fprintf(&b, "val all: List<Program> = listOf(%s)\n", strings.Join(names, ", "))
	return b.String()
}

// kotlinGen generates one program.
type kotlinGen struct {
	r    *rand.Rand
	name string
	// logs has for each function the one that logs its calls: itself, or of a tail call what it calls.
	logs []int
	vars int
	text strings.Builder
}

func (g *kotlinGen) program(seed uint64) string {
	n := 3 + g.r.IntN(4)
	calls := make([]int, n)
	for f := range n {
		if calls[f] = f; f > 0 && g.r.IntN(6) == 0 {
			calls[f] = g.r.IntN(f) // a tail call
			g.logs = append(g.logs, g.logs[calls[f]])
		} else {
			g.logs = append(g.logs, f)
		}
	}
	g.line(0, "object %s : Program(%d) {", g.name, seed)
	for f := range n {
		if calls[f] != f {
			g.line(1, "suspend fun f%d(d: Int): Int = f%d(d)", f, calls[f])
			continue
		}
		parameter := "d: Int"
		if g.r.IntN(4) == 0 {
			parameter += ", y: Int = d + 1"
		}
		g.line(1, "suspend fun f%d(%s): Int = logged(\"%s.f%d\") {", f, parameter, g.name, f)
		g.line(2, "var x = d")
		g.block(2, 1+g.r.IntN(4), 2)
		g.line(2, "x")
		g.line(1, "}")
	}
	g.line(1, "override suspend fun run() {")
	for range 1 + g.r.IntN(2) {
		g.line(2, "try { %s } catch (e: Boom) { }", g.call(2))
	}
	if g.r.IntN(8) == 0 {
		g.line(2, "forgotten { kotlin.coroutines.suspendCoroutine<Unit> { }; next(1) }")
	}
	g.line(1, "}")
	g.line(0, "}\n")
	return g.text.String()
}

func (g *kotlinGen) line(indent int, format string, args ...any) {
	g.text.WriteString(strings.Repeat("    ", indent))
	fmt.Fprintf(&g.text, format+"\n", args...)
}

// block generates n statements, with blocks in them that are nested so deep at most.
func (g *kotlinGen) block(indent, n, depth int) {
	for range n {
		g.statement(indent, depth)
	}
}

// call is a call of one of the functions.
func (g *kotlinGen) call(d any) string {
	f := g.r.IntN(len(g.logs))
	return fmt.Sprintf("calling(\"%s.f%d\") { f%d(%v) }", g.name, g.logs[f], f, d)
}

// inner is a call of one of the functions while there is some depth left.
func (g *kotlinGen) inner() string { return "if (d > 0) " + g.call("d - 1") + " else 0" }

// nest generates a block between two lines.
func (g *kotlinGen) nest(indent, depth int, before, after string) {
	g.line(indent, "%s", before)
	g.block(indent+1, 1+g.r.IntN(2), depth-1)
	g.line(indent, "%s", after)
}

var kotlinContexts = []string{"Dispatchers.Default", "Dispatchers.IO", "single", "Dispatchers.Unconfined",
	"NonCancellable"}

func (g *kotlinGen) statement(indent, depth int) {
	kinds := 20
	if depth == 0 {
		kinds = 8 // those without a block
	}
	g.vars++
	v := g.vars
	context := kotlinContexts[g.r.IntN(len(kotlinContexts))]
	switch g.r.IntN(kinds) {
	case 0:
		g.line(indent, "delay(%d)", g.r.IntN(4))
	case 1:
		g.line(indent, "yield()")
	case 2, 3, 4:
		g.line(indent, "x += %s", g.inner())
	case 5:
		g.line(indent, "x += try { callback(next(8)) } catch (e: Boom) { 1 }")
	case 6:
		g.line(indent, "if (next(5) == 0) throw Boom()")
	case 7:
		g.line(indent, "x += sequence { for (i in 0..d + 2) { yield(i); if (i %% 2 == 0) yieldAll(listOf(i, i)) } }"+
			".take(%d).sum()", 1+g.r.IntN(6))
	case 8:
		g.nest(indent, depth, "withContext("+context+") {", "}")
	case 9:
		g.nest(indent, depth, fmt.Sprintf("withTimeoutOrNull(%d) {", 1+g.r.IntN(8)), "}")
	case 10:
		g.nest(indent, depth, fmt.Sprintf("try { withTimeout(%d) {", 1+g.r.IntN(8)),
			"} } catch (e: TimeoutCancellationException) { yield() }")
	case 11:
		g.nest(indent, depth, "try {", "} catch (e: Boom) {")
		g.block(indent+1, 1, depth-1)
		g.nest(indent, depth, "} finally { withContext(NonCancellable) {", "} }")
	case 12:
		g.line(indent, "x += coroutineScope {")
		g.line(indent+1, "val a%d = async(%s) { var x = 0", v, strings.Replace(context, "NonCancellable", "single", 1))
		g.block(indent+2, 1+g.r.IntN(2), depth-1)
		g.line(indent+2, "x }")
		g.line(indent+1, "val b%d = async { delay(%d); %s }", v, g.r.IntN(3), g.inner())
		g.line(indent+1, "a%d.await() + b%d.await() }", v, v)
	case 13:
		g.nest(indent, depth, fmt.Sprintf("coroutineScope { val j%d = launch {", v), "}")
		g.line(indent+1, "delay(%d); j%d.cancelAndJoin() }", g.r.IntN(4), v)
	case 14:
		g.line(indent, "coroutineScope { val c%d = Channel<Int>(%d)", v, g.r.IntN(3))
		g.line(indent+1, "launch(Dispatchers.Default) { try { repeat(4) { c%d.send(%s) } } finally { c%d.close() } }",
			v, g.inner(), v)
		g.line(indent+1, "for (e in c%d) x += e }", v)
	case 15:
		g.line(indent, "x += flow { repeat(3) { delay(%d); emit(%s) } }.map { yield(); it + 1 }.filter { it %% 2 == 0 }"+
			".fold(0) { a, e -> delay(1); a + e }", g.r.IntN(2), g.inner())
	case 16:
		g.line(indent, "x += coroutineScope { val s%d = async { %s }; select<Int> { s%d.onAwait { it }; onTimeout(%d) { "+
			"s%d.cancel(); 1 } } }", v, g.inner(), v, 1+g.r.IntN(4), v)
	case 17:
		g.line(indent, "x += inlined(d) { n -> yield(); n + (%s) }", g.inner())
	case 18:
		g.line(indent, "val g%d: suspend (Int) -> Int = { n -> if (n > 1) delay(1); %s }", v, g.inner())
		g.line(indent, "x += g%d(next(4))", v)
	case 19:
		g.nest(indent, depth, fmt.Sprintf("repeat(%d) {", 1+g.r.IntN(3)), "}")
	}
}
