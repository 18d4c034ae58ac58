package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Needs its own JVM, because a JVM has only one first call. */
class LifecycleTest {
    @Test
    void theFirstCallRecordsAndExpires() throws Exception {
        long begin = System.nanoTime();
        assertEquals(AppMethodBeat.STATUS_DEFAULT, AppMethodBeat.status());
        assertNull(Recorder.current());
        AppMethodBeat.i(1);
        int status = AppMethodBeat.status();
        Recorder early = Recorder.current();
        Ring ring = early == null ? null : early.threads.main().existingRing();
        Assumptions.assumeTrue(System.nanoTime() - begin < EarlyStart.EXPIRY_NANOS, "the machine stood still");
        assertEquals(AppMethodBeat.STATUS_READY, status);
        assertNotNull(ring);
        assertEquals(1, ring.sequence());

        Await.until("the first records expire", () -> AppMethodBeat.status() == AppMethodBeat.STATUS_OUT_RELEASE);
        assertEquals(AppMethodBeat.OFF, AppMethodBeat.mode);
        assertNull(AppMethodBeat.fast);
        assertNull(early.threads.main().existingRing());
        AppMethodBeat.o(1);
        assertNull(Recorder.current());

        Recorder late = Recorder.start(new RecorderOptions());
        AppMethodBeat.i(2);
        assertEquals(1, late.threads.main().copy(0, 9).records.length);
        late.stop();
    }
}
