@file:OptIn(InternalComposeTracingApi::class)

package compose

import androidx.compose.runtime.*
import androidx.compose.runtime.snapshots.Snapshot
import kotlinx.coroutines.*

/** What was executed, by the program's own log: side effects, which run once for each execution that was applied. */
val log = java.util.TreeMap<String, Int>()

fun executed(name: String) {
    log.merge(name, 1, Int::plus)
}

/** How often a composable was called with a new argument: each call makes one. */
val calls = java.util.TreeMap<String, Int>()

fun <T> called(name: String, argument: T): T {
    calls.merge(name, 1, Int::plus)
    return argument
}

class Node(val children: MutableList<Node> = ArrayList())

class NodeApplier(root: Node) : AbstractApplier<Node>(root) {
    override fun insertTopDown(index: Int, instance: Node) = current.children.add(index, instance)
    override fun insertBottomUp(index: Int, instance: Node) {}
    override fun remove(index: Int, count: Int) = current.children.remove(index, count)
    override fun move(from: Int, to: Int, count: Int) = current.children.move(from, to, count)
    override fun onClear() = root.children.clear()
}

val count = mutableStateOf(0)
val rows = mutableStateListOf<Int>()
val shown = mutableStateOf(true)
val Theme = compositionLocalOf { "light" }

class Unstable(var value: Int)

fun spin(millis: Long) {
    val end = System.nanoTime() + millis * 1_000_000
    while (System.nanoTime() < end) {
    }
}

@Composable
fun Text(text: String, size: Int = 12, onClick: () -> Unit = {}) {
    SideEffect { executed("compose.Text") }
    ComposeNode<Node, NodeApplier>({ Node() }, { set(text) { } })
}

@Composable
fun Column(content: @Composable () -> Unit) {
    SideEffect { executed("compose.Column") }
    ComposeNode<Node, NodeApplier>({ Node() }, { }, content)
}

@Composable
inline fun Inlined(content: @Composable () -> Unit) {
    content()
}

@Composable
fun Row(index: Int, unstable: Unstable) {
    SideEffect { executed("compose.Row") }
    spin(2)
    Text(called("compose.Text", "row $index of ${Theme.current}"), unstable.value)
}

@Composable
fun Counter() {
    SideEffect { executed("compose.Counter") }
    Text(called("compose.Text", "count ${count.value}"))
    Text(called("compose.Text", "never changes"))
}

@Composable
fun Many(
    a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int, k: Int, l: Int, m: String
): Int {
    SideEffect { executed("compose.Many") }
    return a + b + c + d + e + f + g + h + i + j + k + l + m.length
}

interface Page {
    @Composable
    fun Content(title: String)
}

class Home : Page {
    @Composable
    override fun Content(title: String) {
        SideEffect { executed("compose.Home.Content") }
        val square by remember { derivedStateOf { count.value / 10 } }
        Text(called("compose.Text", "$title $square"))
    }
}

@Composable
fun Screen(page: Page) {
    SideEffect { executed("compose.Screen") }
    Column {
        Counter()
        Inlined { Text(called("compose.Text", "in an inline function")) }
        if (shown.value) {
            page.Content("home")
        }
        for (row in rows) {
            key(row) { Row(called("compose.Row", row), Unstable(row)) }
        }
        Many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, count.value / 20, "last")
    }
}

/** Waits until the recorder has set its tracer, and sets one that counts in front of it. */
fun count(into: MutableMap<String, Int>): Boolean {
    val field = Class.forName("androidx.compose.runtime.ComposerKt").getDeclaredField("compositionTracer")
    field.isAccessible = true
    val end = System.nanoTime() + 60_000_000_000
    while (field.get(null) == null && System.nanoTime() < end) {
        Thread.sleep(1)
    }
    val other = field.get(null) as CompositionTracer? ?: return false
    Composer.setTracer(object : CompositionTracer by other {
        override fun traceEventStart(key: Int, dirty1: Int, dirty2: Int, info: String) {
            into.merge(info, 1, Int::plus)
            other.traceEventStart(key, dirty1, dirty2, info)
        }

        override fun isTraceInProgress() = true
    })
    return true
}

fun main() {
    val hook = java.util.TreeMap<String, Int>()
    println("hook ${count(hook)}")
    val clock = BroadcastFrameClock()
    runBlocking {
        val recomposer = Recomposer(coroutineContext + clock)
        val running = launch(clock, CoroutineStart.UNDISPATCHED) { recomposer.runRecomposeAndApplyChanges() }
        val composition = Composition(NodeApplier(Node()), recomposer)
        composition.setContent { Screen(Home()) }
        var time = 0L
        suspend fun frame() {
            Snapshot.sendApplyNotifications()
            repeat(3) { yield() }
            time += 16_000_000
            clock.sendFrame(time)
            repeat(3) { yield() }
        }
        repeat(60) {
            count.value++
            frame()
        }
        rows.addAll(0 until 20)
        frame()
        rows.remove(7)
        frame()
        shown.value = false
        frame()
        shown.value = true
        frame()
        recomposer.cancel()
        running.join()
        composition.dispose()
    }
    for ((name, n) in log) {
        println("effect $n $name")
    }
    for ((name, n) in calls) {
        println("called $n $name")
    }
    for ((text, n) in hook) {
        println("trace $n $text")
    }
}
