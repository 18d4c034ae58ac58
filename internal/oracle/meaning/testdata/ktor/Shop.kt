package shop

import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.request.get
import io.ktor.client.statement.bodyAsText
import io.ktor.server.application.ApplicationCall
import io.ktor.server.engine.embeddedServer
import io.ktor.server.response.respondText
import io.ktor.server.routing.get
import io.ktor.server.routing.routing
import kotlinx.coroutines.*
import java.util.concurrent.*
import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.*

/**
 * The program's own log of a function: its calls, their time as it and its callers see it, and for how long they were
 * suspended: at least the time between the tasks of a dispatcher, and at most the time around the calls that suspend.
 */
class Own {
    val calls = AtomicLong()
    val inside = AtomicLong()
    val outside = AtomicLong()
    val least = AtomicLong()
    val most = AtomicLong()
}

val own = ConcurrentHashMap<String, Own>()

fun log(name: String) = own.getOrPut(name) { Own() }

inline fun <T> timed(to: AtomicLong, body: () -> T): T {
    val begin = System.nanoTime()
    try {
        return body()
    } finally {
        to.addAndGet(System.nanoTime() - begin)
    }
}

/** The body of a function. */
inline fun <T> logged(name: String, body: () -> T): T {
    log(name).calls.incrementAndGet()
    return timed(log(name).inside, body)
}

/** A call of a function. */
inline fun <T> calling(name: String, call: () -> T): T = timed(log(name).outside, call)

/** A call, in a function, that suspends it. */
inline fun <T> suspending(name: String, call: () -> T): T = timed(log(name).most, call)

/** What a call of a function has in the context of its coroutine: the tasks that run, and the end of the last one. */
class Watch(val name: String) : AbstractCoroutineContextElement(Watch) {
    companion object Key : CoroutineContext.Key<Watch>
    private var running = 0
    private var ended = 0L

    fun begin() = synchronized(this) {
        if (running++ == 0 && ended > 0) log(name).least.addAndGet(System.nanoTime() - ended)
    }

    fun end() = synchronized(this) {
        running--
        ended = System.nanoTime()
    }
}

/** The dispatcher of the handlers: between its tasks they are certainly suspended. */
object Handlers : CoroutineDispatcher() {
    override fun dispatch(context: CoroutineContext, block: Runnable) = Dispatchers.Default.dispatch(context, Runnable {
        val watch = context[Watch]!!
        watch.begin()
        block.run()
        watch.end()
    })

    suspend fun <R> handle(name: String, call: suspend () -> R): R =
        withContext(this + Watch(name)) { calling(name) { call() } }
}

/** What a transaction has in its context. */
class Transaction(val dispatcher: ContinuationInterceptor) : AbstractCoroutineContextElement(Transaction) {
    companion object Key : CoroutineContext.Key<Transaction>
}

/** A database that has transactions and queries as Room has them. */
class Db {
    private val threads = Executors.newFixedThreadPool(4) { Thread(it, "db").apply { isDaemon = true } }
    private val queries = threads.asCoroutineDispatcher()
    private val waiting = ArrayDeque<Runnable>()
    private var active: Runnable? = null

    /** Executes one after the other, as Room's TransactionExecutor. */
    private fun execute(task: Runnable) = synchronized(waiting) {
        waiting.add(Runnable {
            try {
                task.run()
            } finally {
                next()
            }
        })
        if (active == null) next()
    }

    private fun next(): Unit = synchronized(waiting) {
        active = waiting.removeFirstOrNull()
        active?.let { threads.execute(it) }
    }

    /** As Room's: the transaction has a thread, which runs an event loop. */
    suspend fun <R> withTransaction(block: suspend () -> R): R {
        val body: suspend CoroutineScope.() -> R = { block() }
        val transaction = coroutineContext[Transaction]
        return if (transaction != null) withContext(transaction.dispatcher, body) else start(coroutineContext, body)
    }

    private suspend fun <R> start(context: CoroutineContext, body: suspend CoroutineScope.() -> R): R =
        suspendCancellableCoroutine { continuation ->
            execute {
                try {
                    runBlocking(context.minusKey(ContinuationInterceptor)) {
                        val dispatcher = coroutineContext[ContinuationInterceptor]!!
                        continuation.resume(withContext(dispatcher + Transaction(dispatcher), body))
                    }
                } catch (e: Throwable) {
                    continuation.cancel(e)
                }
            }
        }

    suspend fun query(n: Int): Int = logged("Db.query") {
        suspending("Db.query") {
            withContext(coroutineContext[Transaction]?.dispatcher ?: queries) { read(n) }
        }
    }

    private fun read(n: Int): Int {
        Thread.sleep(10)
        return n
    }
}

/** The handlers of the server. */
class Shop {
    private val db = Db()
    private val reports = Executors.newFixedThreadPool(2, object : ThreadFactory {
        val made = AtomicLong()
        override fun newThread(r: Runnable) = Thread(r, "reports-${made.incrementAndGet()}").apply { isDaemon = true }
    }).asCoroutineDispatcher()

    /** Is slow by a delay. */
    suspend fun search(n: Int): Int = logged("Shop.search") {
        suspending("Shop.search") { delay(400) }
        n
    }

    /** Is slow by a call that blocks, on a dispatcher with two threads. */
    suspend fun report(n: Int): Int = logged("Shop.report") {
        suspending("Shop.report") { withContext(reports) { render(n) } }
    }

    private fun render(n: Int): Int {
        Thread.sleep(40)
        return n
    }

    /** Is slow by a queue of transactions. */
    suspend fun order(n: Int): Int = logged("Shop.order") {
        suspending("Shop.order") {
            db.withTransaction {
                calling("Db.query") { db.query(n) } + calling("Db.query") { db.query(0) }
            }
        }
    }

    /** Does not suspend. */
    suspend fun ping(n: Int): Int = logged("Shop.ping") {
        if (n < 0) delay(1)
        n
    }
}

/** The client. */
class Client(private val http: HttpClient, private val port: Int) {
    suspend fun fetch(path: String): String = logged("Client.fetch") {
        suspending("Client.fetch") { http.get("http://127.0.0.1:$port/$path").bodyAsText() }
    }

    /** Asks for all at once. */
    suspend fun load(requests: Int): Int = logged("Client.load") {
        suspending("Client.load") {
            coroutineScope {
                List(requests) { n ->
                    async(Dispatchers.Default) {
                        calling("Client.fetch") { fetch("${listOf("search", "report", "order", "ping")[n % 4]}?n=$n") }
                    }
                }.sumOf { it.await().toInt() }
            }
        }
    }
}

fun ApplicationCall.number() = request.queryParameters["n"]!!.toInt()

fun ask(client: Client): Int = runBlocking { calling("Client.load") { client.load(60) } }

fun main() {
    val shop = Shop()
    val server = embeddedServer(io.ktor.server.cio.CIO, port = 0, host = "127.0.0.1") {
        routing {
            get("/search") { call.respondText("${Handlers.handle("Shop.search") { shop.search(call.number()) }}") }
            get("/report") { call.respondText("${Handlers.handle("Shop.report") { shop.report(call.number()) }}") }
            get("/order") { call.respondText("${Handlers.handle("Shop.order") { shop.order(call.number()) }}") }
            get("/ping") { call.respondText("${Handlers.handle("Shop.ping") { shop.ping(call.number()) }}") }
        }
    }.start()
    val http = HttpClient(CIO) {
        engine {
            requestTimeout = 0
            endpoint.connectTimeout = Long.MAX_VALUE
        }
    }
    val sum = ask(Client(http, runBlocking { server.engine.resolvedConnectors().first().port }))
    http.close()
    server.stop(0, 0)
    println("sum $sum")
    for ((k, o) in own.toSortedMap()) println("$k calls ${o.calls} inside ${o.inside.get() / 1000} " +
        "outside ${o.outside.get() / 1000} suspended ${o.least.get() / 1000} to ${o.most.get() / 1000} us")
}
