package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.ThreadStack;
import dev.tracegen.runtime.ThreadTrace;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Reports of stalls and incidents that a recorder has found. */
class ReportTest {
    @Test
    void aStallHasItsFourGroups() throws Exception {
        try (Reports r = new Reports()) {
            r.recorder.scene("Feed");
            r.recorder.foreground(true);
            r.recorder.detectorStates(Collections.singletonMap("watchdog", "on"));
            Stall stall = r.stall(">>>>> Dispatching to Handler (app.H) {1} null: 7", 41, 800);
            About about = new About().set("package", "a.b").set("sdk", 34).set("user", null);
            Report report = Report.of(stall, r.recorder, about);
            String json = report.toString();
            assertEquals(r.recorder.recordingId() + "-s0-0", report.id);
            Map<String, Object> all = Reports.parse(json);
            assertEquals("tracegen-report", all.get("format"));
            assertEquals(1.0, all.get("version"));
            assertEquals("message", all.get("kind"));
            Map<String, Object> basic = Reports.group(json, "basic");
            assertEquals("a.b", basic.get("package"));
            assertEquals(34.0, basic.get("sdk"));
            assertEquals("Feed", basic.get("scene"));
            assertEquals(true, basic.get("foreground"));
            assertFalse(basic.containsKey("user"));
            assertTrue(basic.get("session").toString().matches("[0-9a-f]{16}"));
            Map<String, Object> timing = Reports.group(json, "timing");
            assertEquals(800.0, timing.get("durationMillis"));
            assertEquals((double) (r.platform.wall.get() - 800), timing.get("wallMillis"));
            assertFalse(timing.containsKey("cpuMillis"), "it is not known");
            Map<String, Object> stack = Reports.group(json, "stack");
            assertEquals(stall.stackKey, stack.get("key"));
            assertEquals(Arrays.asList(41.0, 42.0), stack.get("hotPath"));
            assertEquals(3, ((List<?>) stack.get("calls")).size());
            assertEquals("on", Reports.group(json, "detectors").get("watchdog"));
            assertFalse(all.containsKey("cut"));
        }
    }

    @Test
    void aStallHasTheKindOfWhatRan() throws Exception {
        try (Reports r = new Reports()) {
            ThreadTrace trace = r.recorder.thread(Thread.currentThread());
            trace.idleHandlerBegin("app.Cleaner");
            r.platform.pass(2500);
            trace.messageEnd();
            check(r, "idle-handler");
            trace.messageBegin(">>>>> Dispatching to Handler (app.Main) {1f} null: 7");
            r.platform.pass(800);
            trace.messageEnd();
            check(r, "message");
        }
    }

    private static void check(Reports r, String kind) throws Exception {
        Report report = Report.of((Stall) r.next(), r.recorder, new About());
        assertEquals(kind, report.kind);
        assertEquals(kind, Reports.parse(report.toString()).get("kind"));
    }

    @Test
    void anIncidentThatLastsHasOneIdAndItsCalls() throws Exception {
        try (Reports r = new Reports()) {
            r.stall("m", 41, 800);
            Incident.Builder b = r.recorder.incident("sync-barrier", "sync-barrier").fact("token", 9)
                    .thread(r.recorder.thread(Thread.currentThread())).records(0, 6)
                    .stack(ThreadStack.of(Thread.currentThread(), r.platform))
                    .stack(ThreadStack.of("main", r.platform.nanoTime(), null, new StackTraceElement[0]));
            Report begun = Report.of(r.incident(b), r.recorder, new About());
            r.platform.pass(1500);
            Report ended = Report.of(r.incident(b.end(r.platform.nanoTime())), r.recorder, new About());
            assertEquals(begun.id, ended.id);
            assertFalse(begun.ended);
            assertTrue(ended.ended);
            assertEquals(1500.0, Reports.group(ended.toString(), "timing").get("durationMillis"));
            assertEquals("9", Reports.group(ended.toString(), "facts").get("token"));
            assertEquals(Arrays.asList(41.0, 42.0), Reports.group(ended.toString(), "stack").get("hotPath"));
            Report other = Report.of(r.incident(r.recorder.incident("watchdog", "missed-poll")), r.recorder,
                    new About());
            assertNotEquals(ended.id, other.id);
            assertNotEquals(ended.key, other.key);
        }
    }

    @Test
    void aReportIsNeverTooLargeAndSaysWhatIsMissing() throws Exception {
        try (Reports r = new Reports()) {
            String hostile = String.join("", Collections.nCopies(3000, "\u0001\"\u4e2d\uD83D\uDE00"));
            StackTraceElement[] frames = new StackTraceElement[4000];
            Arrays.fill(frames, new StackTraceElement("a." + hostile.substring(0, 900), "m", "F.java", 3));
            Incident.Builder b = r.recorder.incident("hold", "hold").what(hostile).scene(hostile);
            Map<String, String> states = new TreeMap<String, String>();
            About about = new About();
            for (int k = 0; k < 400; k++) {
                b.fact("fact-" + k, hostile);
                b.stack(ThreadStack.of("thread " + k + hostile, k, Thread.State.BLOCKED, frames));
                states.put("detector-" + k, hostile);
                about.set("key-" + k, hostile);
            }
            r.recorder.detectorStates(states);
            about.set("scene", "twice");
            String json = Report.of(r.incident(b), r.recorder, about)
                    .json(",\"dropped\":{\"full\":9223372036854775807}");
            int bytes = json.getBytes(StandardCharsets.UTF_8).length;
            assertTrue(bytes <= Report.MAX_BYTES, bytes + " bytes");
            assertTrue(bytes > Report.MAX_BYTES / 2, bytes + " bytes");
            assertFalse(json.contains("twice"), "a name is there twice");
            Map<String, Object> cut = Reports.group(json, "cut");
            for (String what : new String[] {"samples", "facts", "basic", "detectors", "texts", "frames"}) {
                assertTrue(cut.containsKey(what), what + " is not in " + cut);
            }
        }
    }

    @Test
    void equalStacksAreOneWithACount() throws Exception {
        try (Reports r = new Reports()) {
            StackTraceElement[] one = {new StackTraceElement("a.B", "c", "B.java", 3)};
            StackTraceElement[] two = {new StackTraceElement("a.B", "d", null, -1)};
            Incident.Builder b = r.recorder.incident("hold", "hold");
            for (StackTraceElement[] s : new StackTraceElement[][] {one, one, two, one}) {
                b.stack(ThreadStack.of("main", r.platform.nanoTime(), Thread.State.RUNNABLE, s));
            }
            Report report = Report.of(r.incident(b), r.recorder, new About());
            List<?> samples = (List<?>) Reports.group(report.toString(), "stack").get("samples");
            assertEquals(3, samples.size());
            assertEquals(2.0, ((Map<?, ?>) samples.get(0)).get("count"));
            assertEquals(Arrays.asList("a.B.c(B.java:3)"), ((Map<?, ?>) samples.get(0)).get("frames"));
            assertEquals(Arrays.asList("a.B.d(Unknown Source)"), ((Map<?, ?>) samples.get(1)).get("frames"));
        }
    }
}
