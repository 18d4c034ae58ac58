package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Needs its own JVM, because a JVM has only one first call. */
class DisableFirstTest {
    @Test
    void disableBeforeTheFirstCallLetsItRecordNothing() throws Exception {
        Recorder.disable();
        AppMethodBeat.i(1);
        assertNull(Recorder.current());
        assertEquals(AppMethodBeat.STATUS_OUT_RELEASE, AppMethodBeat.status());
        Recorder late = Recorder.start(new RecorderOptions());
        AppMethodBeat.i(2);
        assertEquals(1, late.threads.main().copy(0, 9).records.length);
        Await.stop(late);
    }
}
