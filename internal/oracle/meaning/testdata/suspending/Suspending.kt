package suspending

import kotlinx.coroutines.*
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.flow.*
import kotlin.coroutines.*
import kotlin.coroutines.intrinsics.*

val log = StringBuilder()
fun say(s: String) { synchronized(log) { log.append(s).append('\n') } }

@JvmInline value class Id(val n: Int)
@JvmInline value class Name(val s: String)

interface Source { suspend fun next(): Int; suspend fun opt(x: Int = 3): Int }

open class Feed : Source {
    private var n = 0
    override suspend fun next(): Int { delay(1); return ++n }
    override suspend fun opt(x: Int): Int { yield(); delay(1); return x * 2 }
    suspend fun named(x: Int): Int { val a = step(x); val b = step(a); return a + b }
    private suspend fun step(x: Int): Int { delay(1); say("step $x"); return x + 1 }
    suspend fun defaults(a: Int = 1, b: String = "b", c: Long = 7L): String { delay(1); return "$a$b$c" }
    suspend fun tail(x: Int): Int = named(x)
    suspend fun tailUnit() { delay(1) }
    open suspend fun openOne(x: Int): Int { val y = step(x); return y + step(y) }
    suspend fun <T> generic(x: T, f: suspend (T) -> T): T { val y = f(x); val z = f(y); return z }
    suspend fun value(id: Id): Id { delay(1); say("id ${id.n}"); return Id(id.n + 1) }
    suspend fun name(x: Name): Name { yield(); yield(); return Name(x.s + "!") }
    suspend fun String.ext(k: Int): String { delay(1); val l = step(k); return this + l }
    suspend fun callExt(): String { val a = "x".ext(1); return a + "y".ext(2) }
    suspend fun long(x: Long): Long { delay(1); val y = x * 2; yield(); return y }
    suspend fun throws(x: Int): Int { delay(1); if (x > 1) throw IllegalStateException("x $x"); return x }
    suspend fun caught(): String { try { throws(5) } catch (e: IllegalStateException) { delay(1); return e.message!! } finally { yield() }; return "no" }
    suspend fun loop(k: Int): Int { var s = 0; for (i in 0 until k) { if (i % 2 == 0) delay(1); s += step(i) }; return s }
    companion object { suspend fun stat(x: Int): Int { delay(1); return helper(x) + 1 }
        private suspend fun helper(x: Int): Int { delay(1); return x * 3 }
        @JvmStatic suspend fun jvmStatic(x: Int): Int { delay(1); yield(); return x } }
    inner class Inner { suspend fun deep(): Int { val a = step(3); return a + step(a) } }
    suspend fun intrinsic(): Int = suspendCoroutine { c -> Thread { Thread.sleep(2); c.resume(7) }.start() }
    suspend fun cancellable(): Int { val a = suspendCancellableCoroutine<Int> { c -> c.resume(4) }; return a + suspendCancellableCoroutine<Int> { it.resume(1) } }
    suspend fun unintercepted(): Int { delay(1); return suspendCoroutineUninterceptedOrReturn { 5 } }
}

class Sub : Feed() { override suspend fun openOne(x: Int): Int { delay(1); return super.openOne(x) + 1 } }

suspend fun top(x: Int): Int { delay(1); return inner(x) + 1 }
private suspend fun inner(x: Int): Int { delay(1); yield(); return x * 2 }

suspend inline fun <T> measured(name: String, body: () -> T): T { say("begin $name"); delay(1); val r = body(); say("end $name"); return r }
inline fun <T> crossed(crossinline f: suspend () -> T): suspend () -> T = { val a = f(); delay(1); a }
inline fun <T, R> Flow<T>.mine(crossinline f: suspend (T) -> R): Flow<R> = flow { collect { emit(f(it)) } }
suspend inline fun <reified T> reifiedOne(x: Any): String { delay(1); return if (x is T) "is" else "no" }
suspend fun usesInline(): Int = measured("a") { val x = top(1); x + top(2) }
suspend fun usesReified(): String = reifiedOne<String>("x") + reifiedOne<Int>("y")
val lambda: suspend (Int) -> Int = { x -> delay(1); top(x) + 1 }
fun ref(): suspend (Int) -> Int = ::top
fun interface Worker { suspend fun work(x: Int): Int }

object Single { suspend fun go(): Int { delay(1); yield(); return 1 } }

abstract class Base<T> { abstract suspend fun get(x: T): T; suspend fun twice(x: T): T { val a = get(x); return get(a) } }
class Impl : Base<Int>() { override suspend fun get(x: Int): Int { delay(1); yield(); return x + 10 } }

class Deleg(s: Source) : Source by s

fun fib() = sequence { var a = 0; var b = 1; while (true) { yield(a); val t = a + b; a = b; b = t } }
fun nested() = sequence { yieldAll(fib().take(3)); yield(100); yieldAll(listOf(1, 2)) }
suspend fun SequenceScope<Int>.helperSeq(x: Int) { yield(x); yield(x + 1) }

suspend fun local(): Int {
    suspend fun inside(x: Int): Int { delay(1); yield(); return x + 1 }
    val f = suspend { delay(1); inside(4) }
    return inside(1) + f()
}

suspend fun flows(): List<Int> {
    val out = ArrayList<Int>()
    flowOf(1, 2, 3, 4).map { delay(1); it * 2 }.filter { yield(); it > 2 }.transform { emit(it); emit(it + 1) }.mine { delay(1); it + 1 }
        .onEach { delay(1) }.take(5).collect { out.add(it); delay(1) }
    flowOf(1, 2).flatMapConcat { flow { emit(it); delay(1); emit(it * 10) } }.flowOn(Dispatchers.Default).buffer(2).collect { out.add(it) }
    out += flowOf(3, 1, 2).reduce { a, b -> delay(1); a + b }
    combine(flowOf(1), flowOf(2)) { a, b -> a + b }.collect { out.add(it) }
    return out
}

suspend fun structured(): Int = coroutineScope {
    val a = async { delay(2); top(1) }
    val b = async(Dispatchers.Default) { delay(1); top(2) }
    launch { delay(1) }
    a.await() + b.await()
}

suspend fun channels(): Int = coroutineScope {
    val c = Channel<Int>(1)
    launch { for (i in 1..4) c.send(i); c.close() }
    var s = 0
    for (x in c) s += x
    s
}

suspend fun timeouts(): String {
    val r = withTimeoutOrNull(5) { delay(2000); 1 }
    return "$r " + try { withTimeout(5) { delay(2000); "x" } } catch (e: TimeoutCancellationException) { "late" }
}

suspend fun cancelled(): String = coroutineScope {
    val j = launch { try { delay(100000) } finally { withContext(NonCancellable) { delay(1); say("clean") } } }
    delay(2); j.cancelAndJoin(); "cancelled ${j.isCancelled}"
}

suspend fun contexts(): String { val a = withContext(Dispatchers.Default) { delay(1); "d" }; return a + withContext(Dispatchers.IO) { top(1); "io" } }

suspend fun deepest(k: Int): Int = if (k == 0) { delay(1); 0 } else 1 + deepest(k - 1)
suspend fun many(a: Int, b: Long, c: Double, d: String, e: IntArray, f: List<Int>): String { delay(1); val x = a + b; yield(); return "$x$c$d${e.size}$f" }

fun main() {
    runBlocking {
        val f = Feed()
        say("next ${f.next()} ${f.opt()} ${f.opt(4)}")
        say("named ${f.named(1)} tail ${f.tail(2)}"); f.tailUnit()
        say("defaults ${f.defaults()} ${f.defaults(2)} ${f.defaults(c = 9)}")
        say("open ${f.openOne(1)} ${Sub().openOne(2)}")
        say("generic ${f.generic("q") { delay(1); it + it }}")
        say("value ${f.value(Id(4)).n} ${f.name(Name("n")).s}")
        say(f.callExt()); say("long ${f.long(4)}"); say(f.caught()); say("loop ${f.loop(5)}")
        say("stat ${Feed.stat(2)} ${Feed.jvmStatic(3)} ${f.Inner().deep()}")
        say("intr ${f.intrinsic()} ${f.cancellable()} ${f.unintercepted()}")
        say("inline ${usesInline()} ${usesReified()} ${crossed { delay(1); 9 }()} ${lambda(2)} ${ref()(3)}")
        say("worker ${Worker { x -> delay(1); x + 2 }.work(1)} ${Single.go()} ${Impl().twice(1)} ${Deleg(f).opt()}")
        say("local ${local()}"); say("flows ${flows()}"); say("structured ${structured()}"); say("channels ${channels()}")
        say(timeouts()); say(cancelled()); say(contexts()); say("deep ${deepest(20)}"); say(many(1, 2, 3.0, "d", IntArray(2), listOf(1)))
        say("seq ${fib().take(8).toList()} ${nested().toList()} ${sequence { helperSeq(3) }.toList()} ${iterator { yield(1) }.next()}")
    }
    print(log)
}
