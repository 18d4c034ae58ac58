package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import androidx.compose.runtime.Composer;
import androidx.compose.runtime.ComposerKt;
import androidx.compose.runtime.CompositionTracer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is noted of composables, by the calls that Compose's compiler inserts, and what tracers see beside this one. */
class CompositionsTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    /** The sampler of the first recorder of this JVM may have set a tracer already. */
    @BeforeEach
    void hook() {
        Composer.Companion.setTracer(null);
        ComposeTracer.set();
    }

    @AfterEach
    void stop() throws Exception {
        Composer.Companion.setTracer(null);
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    private Path start(RecorderOptions options) throws Exception {
        Path file = dir.resolve("compositions.tgd");
        recorder = Recorder.start(options.platform(platform).set("gate", "off").output(file.toFile()));
        // The sampler sets a tracer of its own, once in a JVM.
        platform.awaitFirstCheck();
        hook();
        return file;
    }

    private void compose(String text, int dirty, Runnable inner) {
        boolean traced = ComposerKt.isTraceInProgress();
        if (traced) {
            ComposerKt.traceEventStart(7, dirty, -1, text);
        }
        platform.pass(2);
        inner.run();
        if (ComposerKt.isTraceInProgress()) {
            ComposerKt.traceEventEnd();
        }
    }

    private static void call(int id, Runnable inner) {
        AppMethodBeat.i(id);
        inner.run();
        AppMethodBeat.o(id);
    }

    private static void nothing() {
    }

    @Test
    void executionsHaveTheirRecordsTimesAndDirtyBits() throws Exception {
        Path file = start(new RecorderOptions().everyRecord(true));
        call(1, () -> compose("a.Screen (A.kt:3)", 1, () -> {
            call(2, () -> compose("a.Row (A.kt:9)", 4, CompositionsTest::nothing));
            call(2, CompositionsTest::nothing);
        }));
        Await.stop(recorder);
        assertEquals("+1 +2 -2 +2 -2 -1", WrittenChunks.records(file, 0));
        assertEquals("[a.Row (A.kt:9) 4 -1 5002 2 2+0, a.Screen (A.kt:3) 1 -1 5000 4 1+4]",
                WrittenChunks.compositions(file, 0).toString());
    }

    @Test
    void onlyThoseOfStallsAreWrittenWithThem() throws Exception {
        Path file = start(new RecorderOptions());
        ThreadTrace main = recorder.thread(Thread.currentThread());
        main.messageBegin("quick");
        compose("a.Quick", 0, CompositionsTest::nothing);
        main.messageEnd();
        main.messageBegin("slow");
        compose("a.Slow", 3, () -> platform.pass(800));
        main.messageEnd();
        main.messageBegin("quick");
        compose("a.Quick", 0, CompositionsTest::nothing);
        main.messageEnd();
        Await.stop(recorder);
        assertEquals("[a.Slow 3 -1 5002 802 3+0]", WrittenChunks.compositions(file, 0).toString());
    }

    /** The sampler forgets executions of messages that were none, while others run. */
    @Test
    void executionsOfAStallWaitForIt() throws Exception {
        Path file = start(new RecorderOptions());
        ThreadTrace main = recorder.thread(Thread.currentThread());
        main.messageBegin("slow");
        compose("a.First", 0, CompositionsTest::nothing);
        for (int k = 0; k < 5; k++) {
            platform.pass(200);
            platform.awaitCheck();
            compose("a.Next", 0, CompositionsTest::nothing);
        }
        main.messageEnd();
        for (int k = 0; k < 5; k++) {
            main.messageBegin("quick");
            compose("a.Quick", 0, CompositionsTest::nothing);
            platform.awaitNextCheck();
            main.messageEnd();
        }
        Await.stop(recorder);
        List<String> all = WrittenChunks.compositions(file, 0);
        assertEquals(6, all.size(), all.toString());
        assertTrue(all.get(0).startsWith("a.First "), all.toString());
    }

    @Test
    void executionsWithoutMemoryAreCounted() throws Exception {
        Path file = start(new RecorderOptions().everyRecord(true));
        AppMethodBeat.i(1);
        MemoryBudget memory = recorder.rings().memory;
        memory.takeAlways(memory.bytes());
        compose("a.Lost", 0, CompositionsTest::nothing);
        compose("a.Lost", 0, CompositionsTest::nothing);
        memory.give(memory.bytes());
        compose("a.Kept", 0, CompositionsTest::nothing);
        AppMethodBeat.o(1);
        Await.stop(recorder);
        List<String> all = WrittenChunks.compositions(file, 0);
        assertTrue(all.contains("lost 2") && all.size() == 2, all.toString());
    }

    /** The sampler takes executions while others are noted: each as a whole, and all are written or counted as lost. */
    @Test
    void executionsAreTakenAsAWhole() throws Exception {
        Path file = start(new RecorderOptions().everyRecord(true));
        AppMethodBeat.i(1);
        int n = 300000;
        for (int k = 0; k < n; k++) {
            ComposerKt.traceEventStart(1, 12345, 67890, "a.Row");
            ComposerKt.traceEventEnd();
        }
        AppMethodBeat.o(1);
        Await.stop(recorder);
        long seen = 0;
        for (String execution : WrittenChunks.compositions(file, 0)) {
            if (execution.startsWith("lost ")) {
                seen += Long.parseLong(execution.substring(5));
            } else {
                assertEquals("a.Row 12345 67890 5000 0 1+0", execution);
                seen++;
            }
        }
        assertEquals(n, seen);
    }

    /** An exception skips ends. What is executed then is noted with its own begin and end. */
    @Test
    void exceptionsAndBeginsInTheMiddleDoNoHarm() throws Exception {
        Path file = start(new RecorderOptions().everyRecord(true));
        AppMethodBeat.i(1);
        ComposerKt.traceEventEnd();
        for (int k = 0; k < 3000; k++) {
            ComposerKt.traceEventStart(1, 0, -1, "a.Throws");
        }
        compose("a.Right", 0, CompositionsTest::nothing);
        AppMethodBeat.o(1);
        Await.stop(recorder);
        assertEquals("[a.Right 0 -1 5000 2 1+0]", WrittenChunks.compositions(file, 0).toString());
    }

    /** A tracer that was there before gets the calls that it would get alone, and only while it traces. */
    @Test
    void anotherTracerStays() throws Exception {
        StringBuilder said = new StringBuilder();
        boolean[] traces = {false};
        CompositionTracer other = new CompositionTracer() {
            @Override
            public void traceEventStart(int key, int dirty1, int dirty2, String info) {
                said.append('+').append(info).append(key);
            }

            @Override
            public void traceEventEnd() {
                said.append('-');
            }

            @Override
            public boolean isTraceInProgress() {
                return traces[0];
            }
        };
        Path file = start(new RecorderOptions().everyRecord(true));
        Composer.Companion.setTracer(other);
        ComposeTracer.set();
        CompositionTracer ours = ComposerKt.tracer();
        AppMethodBeat.i(1);
        compose("a.B", 0, CompositionsTest::nothing);
        traces[0] = true;
        compose("a.C", 0, CompositionsTest::nothing);
        AppMethodBeat.o(1);
        Await.stop(recorder);
        compose("a.D", 0, CompositionsTest::nothing);
        traces[0] = false;
        assertFalse(ComposerKt.isTraceInProgress());
        assertEquals("+a.C7-+a.D7-", said.toString());
        assertEquals(2, WrittenChunks.compositions(file, 0).size());
        assertNotEquals(ours, other);
        assertEquals(ours, ours);
        assertEquals(ours.hashCode(), ours.hashCode());
        assertNotNull(ours.toString());
    }

    /** Other threads than the recorded ones compose, too: nothing is traced there. */
    @Test
    void threadsThatAreNotRecordedAreLeftAlone() throws Exception {
        start(new RecorderOptions().everyRecord(true));
        assertTrue(ComposerKt.isTraceInProgress());
        boolean[] other = {true};
        Thread thread = new Thread(() -> other[0] = ComposerKt.isTraceInProgress());
        thread.start();
        thread.join();
        assertFalse(other[0]);
        CompositionTracer ours = ComposerKt.tracer();
        ComposeTracer.install();
        assertSame(ours, ComposerKt.tracer(), "it is set once");
    }
}
