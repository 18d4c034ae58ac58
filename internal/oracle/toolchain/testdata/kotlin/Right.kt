package app

import android.content.Context
import android.os.Looper
import dev.tracegen.runtime.AppMethodBeat
import dev.tracegen.runtime.Platform
import dev.tracegen.runtime.Recorder
import dev.tracegen.runtime.RecorderOptions
import dev.tracegen.runtime.Stall
import dev.tracegen.runtime.StallListener
import dev.tracegen.runtime.android.Dispatch
import dev.tracegen.runtime.android.DispatchListener
import dev.tracegen.runtime.android.LooperMonitor
import dev.tracegen.runtime.android.TracegenRuntime

/** Uses what may be null, and what never is, as Kotlin wants it. Warnings are errors here. */
class Right : DispatchListener(), StallListener {
    override fun stallEnded(stall: Stall) {
        val text: String = stall.description + stall.stackKey + stall.history.size
        println(text + (stall.scene ?: "") + stall.pending?.size + stall.lockOwner?.length + stall.stateAtThreshold?.name)
    }

    override fun dispatchEnd(dispatch: Dispatch) {
        println(dispatch.text().length)
    }

    fun start(context: Context): Boolean {
        Recorder.setStallListener(this)
        val config: RecorderOptions = TracegenRuntime.options(null).set("threads", "main")
        config.slowMillis(200).output(null)
        LooperMonitor.of(Looper.getMainLooper()).add(this)
        AppMethodBeat.at(null, true)
        Recorder.current()?.scene(null)
        println(TracegenRuntime.watch(Looper.getMainLooper()))
        return TracegenRuntime.start(context, config)
    }
}

class Clock : Platform() {
    override fun mainThread(): Thread? = null

    override fun log(message: String) = println(message)
}

fun options(): RecorderOptions = RecorderOptions().meta("key", "value").platform(Clock())
