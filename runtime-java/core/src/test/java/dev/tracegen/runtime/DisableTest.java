package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Needs its own JVM, because a JVM has only one first call. */
class DisableTest {
    @Test
    void disableReleasesTheEarlyRecorderAtOnce() throws Exception {
        long begin = System.nanoTime();
        AppMethodBeat.i(1);
        Recorder early = Recorder.current();
        Assumptions.assumeTrue(System.nanoTime() - begin < EarlyStart.EXPIRY_NANOS, "the machine stood still");
        assertNotNull(early);
        assertEquals(Rings.FIRST_RECORDS, early.threads.main().existingRing().length(), "early recording holds little");
        Recorder.disable();
        assertEquals(AppMethodBeat.STATUS_OUT_RELEASE, AppMethodBeat.status());
        assertEquals(AppMethodBeat.OFF, AppMethodBeat.mode);
        assertNull(AppMethodBeat.fast);
        assertNull(early.threads.main().existingRing());
        assertNull(Recorder.current());
        Await.until("the clock ends", () -> {
            for (Thread t : Thread.getAllStackTraces().keySet()) {
                if (t instanceof RecorderThread) {
                    return false;
                }
            }
            return true;
        });
        AppMethodBeat.o(1);
        assertNull(Recorder.current());
        Recorder.disable();
        Recorder late = Recorder.start(new RecorderOptions());
        AppMethodBeat.i(2);
        Recorder.disable();
        AppMethodBeat.o(2);
        assertEquals(2, late.threads.main().copy(0, 9).records.length, "a recorder that was started is not stopped");
        Await.stop(late);
    }
}
