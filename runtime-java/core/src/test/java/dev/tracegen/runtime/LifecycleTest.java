package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Needs its own JVM, because a JVM has only one first call. */
class LifecycleTest {
    @Test
    void theFirstCallRecordsAndExpires() throws Exception {
        assertEquals(AppMethodBeat.STATUS_DEFAULT, AppMethodBeat.status());
        assertNull(Recorder.current());
        AppMethodBeat.i(1);
        assertEquals(AppMethodBeat.STATUS_READY, AppMethodBeat.status());
        Recorder early = Recorder.current();
        assertEquals(1, early.mainTrace().copy(0, 9).records.length);
        assertNotNull(early.mainTrace().existingRing());

        while (AppMethodBeat.status() != AppMethodBeat.STATUS_OUT_RELEASE) {
            Thread.sleep(20);
        }
        assertEquals(AppMethodBeat.OFF, AppMethodBeat.mode);
        assertNull(AppMethodBeat.fast);
        assertNull(early.mainTrace().existingRing());
        AppMethodBeat.o(1);
        assertNull(Recorder.current());

        Recorder late = Recorder.start(new RecorderOptions());
        AppMethodBeat.i(2);
        assertEquals(1, late.mainTrace().copy(0, 9).records.length);
        late.stop();
    }
}
