package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.ThreadTrace;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A recorder whose stalls and incidents a test makes and receives. To be used on the thread that creates it. */
final class Reports implements AutoCloseable, StallListener, IncidentListener {
    final FakePlatform platform = new FakePlatform();
    final Recorder recorder;
    private final BlockingQueue<Object> delivered = new LinkedBlockingQueue<Object>();

    Reports() {
        recorder = Recorder.start(new RecorderOptions().platform(platform).slowMillis(700));
        Recorder.setReporter(this, this);
    }

    @Override
    public void stallEnded(Stall stall) {
        delivered.add(stall);
    }

    @Override
    public void incidentFound(Incident incident) {
        delivered.add(incident);
    }

    /** Returns the next stall or incident. */
    Object next() throws Exception {
        Object o = delivered.poll(3, TimeUnit.MINUTES);
        assertTrue(o != null, "nothing was delivered: " + platform.logged);
        return o;
    }

    /** Makes a stall of a method and one that it calls. */
    Stall stall(String text, int method, long millis) throws Exception {
        ThreadTrace trace = recorder.thread(Thread.currentThread());
        trace.messageBegin(text);
        AppMethodBeat.i(method);
        AppMethodBeat.i(method + 1);
        platform.pass(millis);
        trace.mark();
        AppMethodBeat.o(method + 1);
        AppMethodBeat.o(method);
        trace.messageEnd();
        return (Stall) next();
    }

    Incident incident(Incident.Builder builder) throws Exception {
        builder.report();
        return (Incident) next();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> parse(String json) {
        return (Map<String, Object>) JsonReader.read(json);
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> group(String json, String name) {
        return (Map<String, Object>) parse(json).get(name);
    }

    @Override
    public void close() {
        Recorder.setReporter(null, null);
        recorder.stop();
    }
}
