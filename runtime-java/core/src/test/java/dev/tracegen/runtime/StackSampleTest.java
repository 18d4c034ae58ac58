package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StackSampleTest {
    /** A sample that seems to be later than a record must not show what the thread did before it. */
    @Test
    void aSampleIsNotLaterThanItsStack() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        Recorder recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        long[] taken = new long[1];
        Thread sampled = new Thread("sampled") {
            @Override
            public StackTraceElement[] getStackTrace() {
                taken[0] = platform.nanoTime();
                platform.pass(10);
                return super.getStackTrace();
            }
        };
        StackSample s = StackSample.of(new ThreadTrace(recorder, sampled, 1, false, true), recorder);
        assertEquals(taken[0], s.nanos);
        Await.stop(recorder);
    }
}
