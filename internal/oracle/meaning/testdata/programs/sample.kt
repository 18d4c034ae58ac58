// Compiled by the Kotlin compiler in programs_test.go, never run.
package sample

import kotlin.properties.Delegates

sealed interface Shape { val area: Double }
data class Circle(val radius: Double) : Shape { override val area get() = Math.PI * radius * radius }
data class Square(val side: Double) : Shape { override val area get() = side * side }
data object Nothing : Shape { override val area get() = 0.0 }

enum class Colour(val rgb: Int) { RED(0xff0000), GREEN(0x00ff00), BLUE(0x0000ff);
    fun mix(other: Colour): Int = (rgb + other.rgb) / 2 }

inline fun <reified T : Shape> List<Shape>.only(predicate: (T) -> Boolean = { true }): List<T> =
    filterIsInstance<T>().filter(predicate)

fun describe(shape: Shape): String = when (shape) {
    is Circle -> "circle of ${shape.radius}"
    is Square -> if (shape.side > 1) "big square" else "square"
    Nothing -> "nothing"
}

class Observed(start: Int) {
    var changes = 0
    var value: Int by Delegates.observable(start) { _, old, new -> if (old != new) changes++ }
    val history by lazy { mutableListOf<Int>() }
    companion object { const val LIMIT = 10; @JvmStatic fun of(n: Int) = Observed(n.coerceAtMost(LIMIT)) }
}

suspend fun step(n: Int): Int = if (n <= 0) 0 else step(n - 1) + 1
suspend fun guarded(block: suspend (Int) -> Int): Int = try { block(step(3)) } catch (e: IllegalStateException) { -1 } finally { step(1) }

fun primes() = sequence {
    val found = mutableListOf<Int>()
    var n = 2
    while (true) { if (found.none { n % it == 0 }) { found += n; yield(n) }; n++ }
}

@JvmInline value class Metres(val n: Double) { operator fun plus(o: Metres) = Metres(n + o.n) }
typealias Grid<T> = Array<Array<T>>
fun <T : Comparable<T>> Grid<T>.largest(): T? = flatten().maxOrNull()
tailrec fun gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b)

fun main(args: Array<String>) {
    val shapes = listOf(Circle(1.0), Square(2.0), Nothing)
    shapes.groupBy { it::class.simpleName }.forEach { (name, list) -> println("$name: ${list.sumOf { it.area }}") }
    println(shapes.only<Square> { it.side > 1 }.joinToString(transform = ::describe))
    println(primes().takeWhile { it < 50 }.toList())
    val o = Observed.of(args.size).apply { value += 3; history += value }
    label@ for (i in 0..5) for (j in 5 downTo 0 step 2) { if (i == j) continue@label; if (i + j > 8) break@label }
    println(buildString { repeat(3) { append(Colour.entries[it].mix(Colour.RED)).append(' ') } } + o.changes + gcd(12, 18))
}
