package app

import android.content.Context
import android.os.Looper
import dev.tracegen.runtime.CallTree
import dev.tracegen.runtime.Recorder
import dev.tracegen.runtime.RecorderOptions
import dev.tracegen.runtime.Stall
import dev.tracegen.runtime.StallListener
import dev.tracegen.runtime.android.LooperMonitor
import dev.tracegen.runtime.android.QueueSnapshot
import dev.tracegen.runtime.android.TracegenRuntime

// Each line that ends with "// wrong" must be an error, and no other.
fun wrong(stall: Stall, context: Context?) {
    Recorder.current().stop() // wrong
    Recorder.start(null) // wrong
    RecorderOptions().meta("key", null) // wrong
    RecorderOptions().set(null, "main") // wrong
    val scene: String = stall.scene // wrong
    val tree: CallTree = stall.tree
    stall.pending.size // wrong
    stall.lockOwner.length // wrong
    stall.stateAtThreshold.name // wrong
    LooperMonitor.of(null) // wrong
    QueueSnapshot.of(Looper.getMainLooper()).snapshot(1) // wrong
    TracegenRuntime.start(context) // wrong
    TracegenRuntime.watch(null) // wrong
    RecorderOptions().apply(null) // wrong
    println(scene + tree.size())
}

class Wrong : StallListener { // wrong
    override fun stallEnded(stall: Stall?) {} // wrong
}
