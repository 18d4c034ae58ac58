package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Incidents on their way from a detector to the recording and to the app. */
class IncidentTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private final CountDownLatch open = new CountDownLatch(1);
    private final BlockingQueue<Incident> delivered = new LinkedBlockingQueue<Incident>();
    private Recorder recorder;
    private Path file;

    private ThreadTrace start(RecorderOptions options) {
        file = dir.resolve("r.tgd");
        recorder = Recorder.start(options.platform(platform).output(file.toFile()).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void stop() throws Exception {
        open.countDown();
        Recorder.setIncidentListener(null);
        Await.stop(Recorder.current());
    }

    private List<WrittenChunks.Chunk> chunks(int type) throws Exception {
        return WrittenChunks.of(file, type);
    }

    private void awaitIncidents(int n) throws Exception {
        Await.until("the file has " + n + " incidents", () -> chunks(RecordingWriter.INCIDENT).size() == n);
    }

    /** Returns the strings of a file by their numbers. */
    private static Map<Long, String> strings(Path file) throws Exception {
        Map<Long, String> all = new TreeMap<Long, String>();
        all.put(0L, "");
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.STRINGS)) {
            long first = c.uv();
            for (long k = 0, n = c.uv(); k < n; k++) {
                all.put(first + k, c.str());
            }
        }
        return all;
    }

    /** Returns the incidents of a file as text: number, kind, what, begin and end, records, facts, frames. */
    private static List<String> incidents(Path file) throws Exception {
        Map<Long, String> names = strings(file);
        List<String> all = new ArrayList<String>();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.INCIDENT)) {
            StringBuilder b = new StringBuilder().append(c.uv()).append(' ');
            names.get(c.uv());
            b.append(names.get(c.uv())).append(' ').append(names.get(c.uv()));
            c.uv();
            b.append(c.sv() == 0 ? " ?" : " begun").append(c.sv() == 0 ? "" : " ended").append(' ').append(c.uv())
                    .append('-').append(c.uv());
            b.append(" scene=").append(names.get(c.uv()));
            c.u8();
            for (long n = c.uv(); n > 0; n--) {
                b.append(' ').append(names.get(c.uv())).append('=').append(c.str());
            }
            for (long n = c.uv(); n > 0; n--) {
                b.append(" [").append(names.get(c.uv()));
                c.sv();
                c.u8();
                for (long frames = c.uv(); frames > 0; frames--) {
                    b.append(' ').append(names.get(c.uv()));
                }
                b.append(']');
            }
            all.add(b.toString());
        }
        return all;
    }

    /** Types of chunks in the order of a file, as far as they are given ones. */
    private static String order(Path file, int... types) throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, 0)) {
            for (int t : types) {
                b.append(c.type == t ? c.type + " " : "");
            }
        }
        return b.toString().trim();
    }

    private static Map<String, String> states(String... all) {
        Map<String, String> states = new TreeMap<String, String>();
        for (int k = 0; k < all.length; k += 2) {
            states.put(all[k], all[k + 1]);
        }
        return states;
    }

    /** The sampler sleeps while no message runs. An incident wakes it. */
    @Test
    void anIncidentWakesTheSampler() throws Exception {
        start(new RecorderOptions());
        Await.until("the sampler sleeps", () -> {
            for (Map.Entry<Thread, StackTraceElement[]> t : Thread.getAllStackTraces().entrySet()) {
                if (t.getKey().getName().equals("tracegen-sampler")
                        && t.getKey().getState() == Thread.State.WAITING) {
                    return true;
                }
            }
            // The virtual clock must pass the time in which the sampler still polls.
            platform.pass(100);
            return false;
        });
        recorder.incident("d", "barrier").report();
        awaitIncidents(1);
    }

    @Test
    void anIncidentThatEndsIsWrittenTwice() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        recorder.scene("a.Screen");
        Incident.Builder b = recorder.incident("d", "k").thread(main).what("a.B").begin(5).fact("x", 1).fact("y", null);
        b.report();
        b.end(7).fact("x", 2).report();
        recorder.incident("d", "k").begin(9).end(9).stack(ThreadStack.of("t", 3, null, new StackTraceElement[] {
            new StackTraceElement("a.B", "c", "B.java", 1)})).report();
        awaitIncidents(3);
        assertEquals("[0 k a.B begun 0-0 scene=a.Screen x=1, 0 k a.B begun ended 0-0 scene=a.Screen x=2, "
                + "1 k  begun ended 0-0 scene=a.Screen [t a.B.c(B.java:1)]]", incidents(file).toString());
    }

    /** Only records of stalls are written: those of an incident are among them, from the begin of its message on. */
    @Test
    void theRecordsOfAnIncidentComeBeforeIt() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin("short");
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        main.messageEnd();
        main.messageBegin("m");
        AppMethodBeat.i(2);
        AppMethodBeat.o(2);
        long first = main.nextRecord();
        AppMethodBeat.i(3);
        recorder.incident("d", "k").thread(main).records(first, main.nextRecord()).report();
        awaitIncidents(1);
        assertEquals("#4 +1048574 +2 -2 +3", WrittenChunks.records(file, main.index));
        assertEquals("5 20", order(file, RecordingWriter.RECORDS, RecordingWriter.INCIDENT));
        AppMethodBeat.o(3);
        platform.pass(800);
        main.messageEnd();
        Await.until("the stall is written", () -> chunks(RecordingWriter.STALL).size() == 1);
        // The stall has all of its records again: a reader takes each once.
        assertTrue(WrittenChunks.records(file, main.index).endsWith("+1048574 +2 -2 +3 -3 -1048574"),
                WrittenChunks.records(file, main.index));
    }

    /** All records are written: those that the sampler has not copied yet come before the incident, too. */
    @Test
    void allRecordsComeBeforeTheIncident() throws Exception {
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        // Records stay in their ring until the writer has begun, and an incident does not wait for them.
        AppMethodBeat.i(100);
        AppMethodBeat.o(100);
        Await.until("records are written", () -> !chunks(RecordingWriter.RECORDS).isEmpty());
        for (int k = 1; k <= 20; k++) {
            AppMethodBeat.i(k);
            AppMethodBeat.o(k);
            recorder.incident("d", "k").thread(main).records(0, main.nextRecord()).report();
            awaitIncidents(k);
            long records = 0;
            int incidents = 0;
            for (WrittenChunks.Chunk c : WrittenChunks.of(file, 0)) {
                if (c.type == RecordingWriter.RECORDS) {
                    c.uv();
                    long number = c.uv();
                    c.uv();
                    records = number + c.uv();
                } else if (c.type == RecordingWriter.INCIDENT) {
                    incidents++;
                    assertTrue(records >= 2L + 2L * incidents, records + " records before incident " + incidents);
                }
            }
        }
    }

    /** What detectors do is in every part, before the first incident, and again when it has changed. */
    @Test
    void detectorsComeBeforeIncidentsInEveryPart() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        ThreadTrace main = recorder.thread(Thread.currentThread());
        file = dir.resolve("w.tgd");
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(platform).output(file.toFile())
                .limit(1, 3).everyRecord(true), 0, 1, new Disk());
        w.open();
        Map<String, String> on = states("d", "on", "e", "not available: needs API 24");
        w.found.detectors(Collections.<String, String>emptyMap());
        w.found.detectors(on);
        w.found.detectors(states("d", "on", "e", "not available: needs API 24"));
        w.found.incident(recorder.incident("d", "k").build(), on);
        for (int k = 0; k < 2; k++) {
            w.calls.records(main, new RecordCopy(k * 65536L, new java.util.Random(k).longs(65536).toArray(), 0));
        }
        w.found.incident(recorder.incident("d", "k").build(), on);
        w.found.incident(recorder.incident("d", "k").build(), states("d", "off"));
        w.close();
        Path part = dir.resolve("w.part1.tgd");
        assertTrue(Files.exists(part), "there is one part");
        assertEquals("21 20", order(part, RecordingWriter.DETECTORS, RecordingWriter.INCIDENT));
        Path last = file;
        assertEquals("21 20 21 20", order(last, RecordingWriter.DETECTORS, RecordingWriter.INCIDENT));
        assertEquals("2 d on e not available: needs API 24", text(WrittenChunks.of(last,
                RecordingWriter.DETECTORS).get(0)));
        assertEquals("1 d off", text(WrittenChunks.of(last, RecordingWriter.DETECTORS).get(1)));
    }

    private static String text(WrittenChunks.Chunk c) {
        long n = c.uv();
        StringBuilder b = new StringBuilder().append(n);
        for (long k = 0; k < 2 * n; k++) {
            b.append(' ').append(c.str());
        }
        return b.toString();
    }

    /** A recording without an incident says what detectors did, so that finding nothing means something. */
    @Test
    void detectorsAreWrittenWithoutAnIncident() throws Exception {
        start(new RecorderOptions().everyRecord(true));
        recorder.detectorStates(states("d", "on"));
        AppMethodBeat.i(1);
        Await.until("detectors are written", () -> !chunks(RecordingWriter.DETECTORS).isEmpty());
        recorder.detectorStates(states("d", "off"));
        Await.stop(recorder);
        List<WrittenChunks.Chunk> all = chunks(RecordingWriter.DETECTORS);
        assertEquals("1 d off", text(all.get(all.size() - 1)));
    }

    @Test
    void incidentsThatDoNotFitAreCounted() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        recorder.thread(Thread.currentThread());
        Await.until("an incident is dropped", () -> {
            for (int k = 0; k < 1000; k++) {
                recorder.incident("d", "k").report();
            }
            String text = recorder.dropped().text();
            return text != null && text.contains(" incidents");
        });
    }

    @Test
    void textsAreRedacted() throws Exception {
        ThreadTrace main = start(new RecorderOptions().redactor(new TextRedactor() {
            @Override
            public String redact(String kind, String text) {
                return kind.equals(INCIDENT) || kind.equals(THREAD) ? "-" + text : text;
            }
        }));
        Recorder.setIncidentListener(delivered::add);
        recorder.incident("d", "k").thread(main).what("secret").fact("key", "value")
                .stack(ThreadStack.of("t", 1, null, new StackTraceElement[0])).report();
        awaitIncidents(1);
        assertEquals("[0 k -secret begun 0-0 scene= key=-value [-t]]", incidents(file).toString());
        Incident i = delivered.poll(180, TimeUnit.SECONDS);
        assertNotNull(i, "nothing was delivered");
        assertEquals("-secret {key=-value} -t", i.what + " " + i.facts + " " + i.stacks.get(0).thread);
    }

    /** Returns the name of an incident of a message, as it is delivered and as it is written. */
    private String nameOfMessage(RecorderOptions options, boolean ended) throws Exception {
        ThreadTrace main = start(options.history(200, 0));
        Recorder.setIncidentListener(delivered::add);
        main.messageBegin(">>>>> Dispatching to Handler (a.H) {1a2b} Mail{to=Bob}@3c: 7");
        long begin = main.runningSince();
        if (ended) {
            main.messageEnd();
        }
        recorder.incident("d", "k").thread(main).message(main.messageAt(begin)).report();
        awaitIncidents(1);
        if (!ended) {
            main.messageEnd();
        }
        Incident i = delivered.poll(180, TimeUnit.SECONDS);
        assertNotNull(i, "nothing was delivered");
        WrittenChunks.Chunk c = chunks(RecordingWriter.INCIDENT).get(0);
        c.uv();
        c.uv();
        c.uv();
        assertEquals(i.what, strings(file).get(c.uv()), "the name in the file");
        return i.what;
    }

    /** A message's text may have personal data, so an incident has it only as a stall does. */
    @Test
    void theTextOfAMessageIsShortened() throws Exception {
        assertEquals("Handler (a.H) Mail: 7", nameOfMessage(new RecorderOptions(), false));
    }

    @Test
    void theTextOfAMessageThatHasEndedIsShortened() throws Exception {
        assertEquals("Handler (a.H) Mail: 7", nameOfMessage(new RecorderOptions(), true));
    }

    /** It is redacted once, as the text of a message, and behind the shortening. */
    @Test
    void theTextOfAMessageIsRedactedAsSuch() throws Exception {
        assertEquals("message<Handler (a.H) Mail: 7>", nameOfMessage(new RecorderOptions().redactor(
                (kind, text) -> kind + "<" + text + ">"), false));
    }

    @Test
    void aListenerThatThrowsCostsNothing() throws Exception {
        start(new RecorderOptions());
        Recorder.setIncidentListener(incident -> {
            delivered.add(incident);
            throw new OutOfMemoryError("of the app");
        });
        for (int k = 1; k <= 3; k++) {
            recorder.incident("d", "k").report();
            awaitIncidents(k);
            final int n = k;
            Await.until("incident " + k + " is delivered", () -> delivered.size() == n);
        }
        assertTrue(recorder.recording());
    }

    @Test
    void whatAListenerMissesIsCounted() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        Recorder.setIncidentListener(incident -> {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Await.until("a delivery is dropped", () -> {
            recorder.incident("d", "k").report();
            String text = recorder.dropped().text();
            return text != null && text.contains("listener");
        });
    }

    @Test
    void aStoppedRecorderTakesNone() throws Exception {
        start(new RecorderOptions());
        Incident.Builder b = recorder.incident("d", "k");
        b.report();
        awaitIncidents(1);
        Await.stop(recorder);
        b.end(7).report();
        assertFalse(recorder.recording());
        assertEquals(1, chunks(RecordingWriter.INCIDENT).size());
        assertNull(delivered.poll());
    }
}
