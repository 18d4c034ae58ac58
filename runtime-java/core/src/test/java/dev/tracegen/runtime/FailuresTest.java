package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A recorder that fails again and again turns itself off. */
class FailuresTest {
    private static final long SECOND = 1000000000L;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    @AfterEach
    void stop() throws Exception {
        platform.broken = false;
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    @Test
    void fiveInAMinuteAreTooMany() {
        Failures failures = new Failures(null);
        IllegalStateException first = new IllegalStateException("1");
        assertNull(failures.add(first, 0));
        for (int k = 1; k < 4; k++) {
            assertNull(failures.add(new IllegalStateException(), 15 * k * SECOND));
        }
        // The first one is more than a minute ago.
        assertNull(failures.add(new IllegalStateException(), 61 * SECOND));
        assertSame(first, failures.add(new IllegalStateException(), 62 * SECOND));
        assertNull(failures.add(new IllegalStateException(), 63 * SECOND), "a second time");
    }

    @Test
    void aLackOfMemoryOrStackOrDiskIsNoFailureOfTheRecorder() {
        Failures failures = new Failures(null);
        for (int k = 0; k < 20; k++) {
            assertNull(failures.add(new OutOfMemoryError(), k));
            assertNull(failures.add(new StackOverflowError(), k));
            assertNull(failures.add(new IOException(), k));
        }
    }

    @Test
    void theRecorderIsTurnedOffAndSaysSoOnce() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        platform.broken = true;
        Await.until("recording is off", () -> AppMethodBeat.mode == AppMethodBeat.OFF);
        assertEquals(AppMethodBeat.STATUS_STOPPED, AppMethodBeat.status());
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        Await.until("the log says so", () -> platform.logged.contains("turned off"));
        Await.stop(recorder);
        String text = platform.logged;
        assertEquals(text.indexOf("turned off"), text.lastIndexOf("turned off"), text);
        assertEquals("recording is turned off and the program runs on, because the recorder has failed 5 times in 60 s;"
                + " the first failure was: java.lang.IllegalStateException: no clock",
                text.substring(text.indexOf("recording is turned off")).trim());
    }
}
