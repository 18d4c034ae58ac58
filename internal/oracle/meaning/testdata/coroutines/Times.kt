package times

import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.*
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.random.Random

/** The program's own log: by function, how often it was called, and its time, measured inside of it and by its callers. */
class Own {
    val calls = AtomicLong()
    val inside = AtomicLong()
    val outside = AtomicLong()
}

val own = ConcurrentHashMap<String, Own>()

fun log(name: String) = own.getOrPut(name) { Own() }

/** The body of a function. */
inline fun <T> logged(name: String, body: () -> T): T {
    val begin = System.nanoTime()
    try {
        return body()
    } finally {
        log(name).calls.incrementAndGet()
        log(name).inside.addAndGet(System.nanoTime() - begin)
    }
}

/** A call of a function. */
inline fun <T> calling(name: String, call: () -> T): T {
    val begin = System.nanoTime()
    try {
        return call()
    } finally {
        log(name).outside.addAndGet(System.nanoTime() - begin)
    }
}

/** The jobs and continuations of functions that have ended: whatever holds one of them makes the program print it. */
val ended = ConcurrentLinkedQueue<WeakReference<Any>>()

suspend fun remember() {
    ended.add(WeakReference(currentCoroutineContext()[Job]!!))
    suspendCoroutineUninterceptedOrReturn<Unit> { ended.add(WeakReference(it)); Unit }
}

/** Returns how many of them are still there after collections of garbage. */
fun kept(): Int {
    repeat(50) {
        Runtime.getRuntime().gc() // System.gc() does nothing on Android unless finalizers ran
        if (ended.all { it.get() == null }) return 0
        Thread.sleep(20)
    }
    return ended.count { it.get() != null }
}

fun spin(micros: Long) {
    val until = System.nanoTime() + micros * 1000
    while (System.nanoTime() < until) {}
}

class Prog(seed: Int) {
    private val r = Random(seed)
    private fun next(n: Int) = synchronized(r) { r.nextInt(n) }

    suspend fun alpha(depth: Int): Int = logged("alpha") {
        spin(200)
        delay(next(20).toLong())
        if (depth > 0) calling("beta") { beta(depth - 1) }
        withContext(Dispatchers.IO) { Thread.sleep(next(15).toLong()) }
        remember()
        spin(100)
        1
    }

    suspend fun beta(depth: Int): Int = logged("beta") {
        coroutineScope {
            val a = async { calling("alpha") { alpha(depth) } }
            val b = async(Dispatchers.Default) { calling("gamma") { gamma(depth) } }
            a.await() + b.await()
        }
    }

    suspend fun gamma(depth: Int): Int = logged("gamma") {
        try {
            withTimeout(10) { delay(5L + next(15)); 7 }
        } catch (e: TimeoutCancellationException) {
            yield()
            if (depth > 0 && next(3) == 0) calling("throws") { throws() } else 0
        } catch (e: IllegalStateException) {
            3
        }
    }

    suspend fun throws(): Int = logged("throws") {
        delay(3)
        if (next(2) == 0) throw IllegalStateException("thrown")
        5
    }

    suspend fun flows(): Int = logged("flows") {
        var sum = 0
        flow { repeat(5) { delay(2); emit(it) } }.map { it + 1 }.filter { it % 2 == 0 }.collect { sum += it }
        sum
    }

    suspend fun channels(): Int = logged("channels") {
        coroutineScope {
            val c = Channel<Int>()
            launch(Dispatchers.Default) {
                repeat(20) { c.send(it) }
                c.close()
            }
            var n = 0
            for (x in c) n += x
            n
        }
    }

    suspend fun quick(): Int = logged("quick") {
        if (next(1000) == 2000) delay(1)
        1
    }
}

fun main() {
    for (seed in 1..4) {
        val p = Prog(seed)
        try {
            runBlocking(if (seed % 2 == 0) Dispatchers.Default else kotlin.coroutines.EmptyCoroutineContext) {
                val jobs = List(8) {
                    launch {
                        try {
                            calling("alpha") { p.alpha(2) }
                            calling("flows") { p.flows() }
                            calling("channels") { p.channels() }
                            repeat(50) { calling("quick") { p.quick() } }
                        } catch (e: IllegalStateException) {
                        }
                    }
                }
                delay(150)
                if (seed == 3) jobs.forEach { it.cancel() }
            }
        } catch (e: IllegalStateException) {
        }
    }
    println("kept ${kept()} of ${ended.size}")
    for ((k, o) in own.toSortedMap()) println("$k calls ${o.calls} inside ${o.inside.get() / 1000} outside ${o.outside.get() / 1000} us")
}
