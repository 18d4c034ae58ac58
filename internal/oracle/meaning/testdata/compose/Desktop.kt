package desktop

import androidx.compose.foundation.layout.*
import androidx.compose.foundation.lazy.*
import androidx.compose.material3.*
import androidx.compose.runtime.*
import androidx.compose.ui.*
import androidx.compose.ui.unit.dp

/** What was executed, by the program's own log: side effects, which run once for each execution that was applied. */
val effects = java.util.TreeMap<String, Int>()

fun executed(name: String) {
    effects.merge(name, 1, Int::plus)
}

val tick = mutableStateOf(0)

fun parse(text: String): Int {
    val end = System.nanoTime() + 1_000_000
    while (System.nanoTime() < end) {
        Thread.onSpinWait()
    }
    return text.length
}

@Composable
fun Item(n: Int, label: String) {
    SideEffect { executed("desktop.Item") }
    Row(Modifier.padding(4.dp)) {
        Text("$label ${parse(label)}")
        Button(onClick = {}) { Text("item $n") }
    }
}

@Composable
fun Header(title: String) {
    SideEffect { executed("desktop.Header") }
    Text(title, style = MaterialTheme.typography.headlineMedium)
}

@Composable
fun Feed() {
    SideEffect { executed("desktop.Feed") }
    Column {
        Header("Feed")
        LazyColumn { items(30) { n -> Item(n, "at ${tick.value}") } }
    }
}

fun tracer(): Any? {
    val field = Class.forName("androidx.compose.runtime.ComposerKt").getDeclaredField("compositionTracer")
    field.isAccessible = true
    return field.get(null)
}

@OptIn(ExperimentalComposeUiApi::class)
fun main() {
    val end = System.nanoTime() + 60_000_000_000
    while (tracer() == null && System.nanoTime() < end) {
        Thread.sleep(1)
    }
    println("hook ${tracer() != null}")
    val scene = ImageComposeScene(400, 600) { MaterialTheme { Surface { Feed() } } }
    scene.render(0)
    for (frame in 1L..60) {
        tick.value++
        scene.render(frame * 16_000_000)
    }
    scene.close()
    for ((name, n) in effects) {
        println("effect $n $name")
    }
}
