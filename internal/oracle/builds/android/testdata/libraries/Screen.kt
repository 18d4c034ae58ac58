package dev.tracegen.example

import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import dagger.hilt.android.AndroidEntryPoint
import java.time.LocalDate
import javax.inject.Inject

/** What Hilt provides. Below API 26, java.time is that of the desugared library. */
class Clock @Inject constructor() {
    fun day(): String {
        var day = LocalDate.of(2026, 1, 1)
        repeat(3) { day = day.plusDays(1) }
        return day.toString()
    }
}

/** Shows a number by Compose. */
@AndroidEntryPoint
class ScreenActivity : ComponentActivity() {
    @Inject lateinit var clock: Clock

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        setContent { Screen(clock.day()) }
    }
}

@Composable
fun Screen(day: String) {
    var shown by remember { mutableStateOf(0) }
    for (c in day) {
        shown += c.code
    }
    Line(shown)
}

@Composable
fun Line(sum: Int) {
    val text = remember(sum) { "sum $sum" }
    println(text)
}
