package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Needs its own JVM, because a JVM has only one first call. */
class TakeoverTest {
    @Test
    void startKeepsWhatTheFirstCallsRecorded() throws Exception {
        long begin = System.nanoTime();
        AppMethodBeat.i(1);
        Recorder early = Recorder.current();
        Recorder recorder = Recorder.start(new RecorderOptions().slowMillis(100).threads(RecorderOptions.THREADS_ALL));
        Assumptions.assumeTrue(System.nanoTime() - begin < EarlyStart.EXPIRY_NANOS, "the machine stood still");
        assertSame(early, recorder);
        assertEquals(AppMethodBeat.STATUS_STARTED, AppMethodBeat.status());
        AppMethodBeat.o(1);
        assertEquals(2, recorder.threads.main().copy(0, 9).records.length);
        final ThreadTrace[] other = new ThreadTrace[1];
        Thread thread = new Thread() {
            @Override
            public void run() {
                AppMethodBeat.i(3);
                other[0] = Recorder.current().thread(this);
            }
        };
        thread.start();
        thread.join();
        assertEquals(1, other[0].copy(0, 9).records.length);
        recorder.stop();
    }
}
