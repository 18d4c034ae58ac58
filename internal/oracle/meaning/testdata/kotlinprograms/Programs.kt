package programs

import kotlinx.coroutines.*
import java.util.Random
import java.util.concurrent.*
import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.*

class Boom : RuntimeException()

/** The log of a function: its calls, and their time, as it and its callers see it. */
class Own {
    val calls = AtomicLong()
    val inside = AtomicLong()
    val outside = AtomicLong()
}

val own = ConcurrentHashMap<String, Own>()

fun log(name: String) = own.getOrPut(name) { Own() }

/** The body of a function. */
inline fun <T> logged(name: String, body: () -> T): T {
    val began = "ended $name ${thread()}"
    val begin = System.nanoTime()
    try {
        return body()
    } finally {
        val end = System.nanoTime()
        val o = log(name)
        o.calls.incrementAndGet()
        o.inside.addAndGet(end - begin)
        calls.add("$began $begin ${thread()} $end")
    }
}

val calls = ConcurrentLinkedQueue<String>()

fun thread() = Thread.currentThread().name.replace(' ', '_')

/** A call of a function. */
inline fun <T> calling(name: String, call: () -> T): T {
    val begin = System.nanoTime()
    calls.add("called $name $begin ${thread()}")
    try {
        return call()
    } finally {
        log(name).outside.addAndGet(System.nanoTime() - begin)
    }
}

val single = newSingleThreadContext("single")
val threads = AtomicLong()
val timer: ScheduledExecutorService = Executors.newScheduledThreadPool(2) { r ->
    Thread(r, "timer-${threads.incrementAndGet()}").apply { isDaemon = true }
}

/** A function that is resumed by another thread, or before it has returned, or with an exception, as n says. */
suspend fun callback(n: Int): Int = suspendCoroutine { c ->
    when (n % 4) {
        0 -> c.resume(n)
        1 -> c.resumeWithException(Boom())
        else -> timer.schedule({ c.resume(n) }, n.toLong(), TimeUnit.MILLISECONDS)
    }
}

suspend inline fun inlined(n: Int, crossinline block: suspend (Int) -> Int): Int {
    val f: suspend () -> Int = { delay(1); block(n) }
    return f() + 1
}

/** Starts a coroutine that nobody resumes. */
fun forgotten(block: suspend () -> Unit) = block.startCoroutine(Continuation(EmptyCoroutineContext) { })

abstract class Program(seed: Long) {
    private val r = Random(seed)
    fun next(n: Int) = synchronized(r) { r.nextInt(n) }
    abstract suspend fun run()
}

fun main() {
    val pool = Executors.newFixedThreadPool(4)
    for (p in all) {
        pool.execute {
            try {
                runBlocking { withTimeout(20_000) { p.run() } }
            } catch (e: Boom) {
            }
        }
    }
    pool.shutdown()
    pool.awaitTermination(1, TimeUnit.HOURS)
    single.close()
    for ((k, o) in own.toSortedMap())
        println("function $k ${o.calls} ${o.inside.get()} ${o.outside.get()}")
    for (line in calls) println(line)
    Class.forName("kotlin.coroutines.jvm.internal.DebugProbesKt").getMethod("print").invoke(null)
}
