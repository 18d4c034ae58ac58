package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Messages and runs of IdleHandlers of one thread: which of them is what, and which is a stall. */
class SegmentsTest implements StallListener {
    private static final long MILLI = 1000000L;

    private final VirtualPlatform platform = new VirtualPlatform();
    private final List<Stall> stalls = new CopyOnWriteArrayList<Stall>();
    private Recorder recorder;
    private ThreadTrace trace;

    @BeforeEach
    void begin() {
        Recorder.setStallListener(this);
        recorder = Recorder.start(new RecorderOptions().platform(platform).slowMillis(700).set("slow-idle", "2000")
                .history(400, 0));
        trace = recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void end() throws Exception {
        Recorder.setStallListener(null);
        Await.stop(recorder);
    }

    @Override
    public void stallEnded(Stall stall) {
        stalls.add(stall);
    }

    private void pass(long millis) {
        platform.pass(millis);
    }

    /** Returns kind and duration of each segment, without pauses. */
    private List<String> segments() {
        List<String> all = new ArrayList<String>();
        for (MessageRecord m : trace.history()) {
            if (m.kind != MessageRecord.IDLE) {
                all.add(m.kind + " " + m.description + " " + m.wallNanos / MILLI);
            }
        }
        return all;
    }

    /** Returns the durations of the stalls, after one more that is the last. */
    private List<Long> stalls() throws Exception {
        trace.messageBegin("last");
        pass(12345);
        trace.messageEnd();
        Await.until("the last stall is delivered",
                () -> !stalls.isEmpty() && stalls.get(stalls.size() - 1).wallNanos == 12345 * MILLI);
        List<Long> durations = new ArrayList<Long>();
        for (Stall s : stalls) {
            durations.add(s.wallNanos / MILLI);
        }
        durations.remove(durations.size() - 1);
        return durations;
    }

    private void message(String text, long millis) {
        trace.messageBegin(text);
        pass(millis);
        trace.messageEnd();
    }

    private void idleHandler(String text, long millis) {
        trace.idleHandlerBegin(text);
        pass(millis);
        trace.messageEnd();
    }

    @Test
    void eachKindHasItsOwnThreshold() throws Exception {
        message("m699", 699);
        message("m700", 700);
        idleHandler("h1999", 1999);
        idleHandler("h2000", 2000);
        assertEquals(Arrays.asList("0 m699 699", "0 m700 700", "5 h1999 1999", "5 h2000 2000"), segments());
        assertEquals(Arrays.asList(700L, 2000L), stalls());
    }

    @Test
    void aStallHasItsKindAndTheNameOfItsCode() throws Exception {
        idleHandler("IdleHandler app.Idle", 2000);
        idleHandler("IdleHandler a user's text", 2000);
        stalls();
        assertEquals("5 IdleHandler app.Idle", stalls.get(0).kind + " " + stalls.get(0).description);
        assertTrue(!stalls.get(1).description.contains("user"), stalls.get(1).description);
    }

    @Test
    void whatRunsHasItsThresholdBeforeItEnds() throws Exception {
        trace.idleHandlerBegin("h");
        pass(1900);
        Await.until("the sampler has seen it", () -> trace.sampled.facts != null && trace.sampled.facts.number == 0);
        assertEquals(2000 * MILLI, trace.sampled.facts.thresholdNanos);
        assertTrue(!trace.sampled.facts.passed, "it is a stall too early");
        Await.until("the threshold is passed", () -> {
            pass(10);
            return trace.sampled.facts.passed;
        });
        trace.messageEnd();
    }

    @Test
    void theRecordingHasTheThresholds() {
        assertEquals("2000", recorder.options().meta.get("slowIdleMillis"));
    }
}
