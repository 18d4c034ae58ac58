package sample;

import android.content.Context;
import android.os.HandlerThread;
import android.os.Looper;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.CallItem;
import dev.tracegen.runtime.MappingInfo;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.android.Dispatch;
import dev.tracegen.runtime.android.DispatchListener;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** An app that uses everything that the runtime has, as apps do that are built with it and without. */
public final class Sample extends DispatchListener implements StallListener {
    public final List<String> slow = Collections.synchronizedList(new ArrayList<String>());
    public volatile int dispatches;
    public volatile int messages;
    public volatile int records;

    @Override
    public void dispatchEnd(Dispatch dispatch) {
        dispatches += dispatch.isIdleHandler() ? 0 : 1;
    }

    @Override
    public void stallEnded(Stall message) {
        String calls = "";
        for (CallItem item : message.tree.longest(30)) {
            calls += " " + item.depth;
        }
        slow.add(message.thread + calls);
    }

    /** Starts, as in Application.onCreate. */
    public boolean start(Context context) {
        Recorder.setStallListener(this);
        RecorderOptions config = new RecorderOptions().set("output", "sample.tgd");
        config.slowMillis(200).threads(RecorderOptions.THREADS_CHOSEN).threadRingRecords(4096);
        config.set("check", "1000");
        boolean started = TracegenRuntime.start(context, config);
        LooperMonitor.of(Looper.getMainLooper()).add(this);
        return started;
    }

    /** Work that takes too long on a looper. */
    public void work() throws InterruptedException {
        Thread.sleep(300);
    }

    /** All other methods of the runtime. */
    public String ask(HandlerThread other) {
        boolean watched = TracegenRuntime.watch(other.getLooper());
        Recorder recorder = Recorder.current();
        String text = AppMethodBeat.METHOD_ID_DISPATCH + " " + (AppMethodBeat.status() == AppMethodBeat.STATUS_STARTED)
                + " " + watched + " " + MappingInfo.digest().length();
        if (recorder != null) {
            recorder.scene("sample");
            recorder.foreground(true);
            ThreadTrace trace = recorder.thread(Looper.getMainLooper().getThread());
            long mark = trace.mark();
            for (MessageRecord m : trace.history()) {
                messages += m.kind == MessageRecord.IDLE ? 0 : m.count;
            }
            records += trace.copy(0, mark).records.length;
        }
        Traced.calls();
        return text;
    }

    /** Ends, and asks for nothing more. */
    public void stop() {
        LooperMonitor.of(Looper.getMainLooper()).release();
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
    }
}
