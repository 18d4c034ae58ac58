package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import java.io.File;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The outbox on a real disk. */
class OutboxTest {
    @TempDir
    Path dir;

    private static final long DAY = 86400000L;
    private static final long NOW = 20000 * DAY;

    private final OutboxLimits limits = new OutboxLimits();

    private Outbox outbox(String process) {
        return new Outbox(dir.toFile(), process, limits);
    }

    private static List<String> lines(Batch batch) {
        return batch == null ? Collections.<String>emptyList()
                : Arrays.asList(new String(batch.lines(), StandardCharsets.UTF_8).split("\n"));
    }

    private static List<String> ids(Outbox outbox, long now) {
        List<String> all = new ArrayList<String>();
        for (String line : lines(outbox.batch(1000, 10 << 20, now))) {
            all.add(Reports.parse(line).get("id").toString().replaceAll(".*-", ""));
        }
        return all;
    }

    private static Report incident(Reports r, String kind) throws Exception {
        return Report.of(r.incident(r.recorder.incident("test", kind).end(r.platform.nanoTime())), r.recorder,
                new About());
    }

    @Test
    void reportsOfTwoProcessesComeInTheOrderOfTheirTimes() throws Exception {
        try (Reports r = new Reports()) {
            Outbox one = outbox("a.b");
            Outbox two = outbox("a.b:push");
            for (int k = 0; k < 6; k++) {
                assertTrue((k % 2 == 0 ? one : two).add(incident(r, "k" + k), 1, NOW + k));
            }
            assertEquals("[i0, i1, i2, i3, i4, i5]", ids(one, NOW).toString());
            assertEquals(ids(one, NOW), ids(two, NOW));
            assertEquals(6, two.waiting(NOW));
            assertEquals(NOW, two.oldest(NOW));
            Batch first = one.batch(2, 1 << 20, NOW);
            assertEquals(2, first.size());
            assertEquals(1, one.batch(1000, 1, NOW).size());
            assertTrue(one.done(first, 0));
            assertEquals("[i2, i3, i4, i5]", ids(two, NOW).toString());
            assertEquals(one.installation(), two.installation());
            assertEquals(one.installation(), outbox("x").installation());
        }
    }

    @Test
    void theOldestIsDeletedWhenItIsFullAndTheNextReportSaysHowMany() throws Exception {
        try (Reports r = new Reports()) {
            limits.reports = 3;
            Outbox o = outbox("p");
            for (int k = 0; k < 5; k++) {
                o.add(incident(r, "k" + k), 1, NOW + k);
            }
            assertEquals("[i2, i3, i4]", ids(o, NOW).toString());
            assertEquals("{full=2}", o.totals().toString());
            // Of another start of the process: totals are on the disk.
            limits.ageMillis = 1000;
            o = outbox("p");
            o.add(incident(r, "k"), 1, NOW + 2000);
            assertEquals("[i5]", ids(o, NOW + 2000).toString());
            o.add(incident(r, "l"), 0.5, NOW + 2001);
            String line = lines(o.batch(10, 1 << 20, NOW)).get(1);
            assertEquals("{full=2.0, too-old=3.0}", Reports.group(line, "dropped").toString());
            assertEquals(0.5, Reports.parse(line).get("sampling"));
        }
    }

    @Test
    void bytesAreLimitedToo() throws Exception {
        try (Reports r = new Reports()) {
            limits.bytes = Report.MAX_BYTES + Outbox.OVERHEAD;
            StringBuilder big = new StringBuilder();
            for (int k = 0; k < 2000; k++) {
                big.append((char) ('a' + k % 26));
            }
            Outbox o = outbox("p");
            for (int k = 0; k < 4; k++) {
                Incident.Builder b = r.recorder.incident("test", "k" + k);
                for (int n = 0; n < 90; n++) {
                    b.fact("f" + n, big);
                }
                o.add(Report.of(r.incident(b.end(r.platform.nanoTime())), r.recorder, new About()), 1, NOW + k);
            }
            // One report of the greatest size always fits, and two of these do.
            assertEquals("[i2, i3]", ids(o, NOW).toString());
        }
    }

    @Test
    void aKeyHasOnlySoManyReportsADay() throws Exception {
        try (Reports r = new Reports()) {
            limits.perKeyAndDay = 2;
            Outbox o = outbox("p");
            int written = 0;
            for (int k = 0; k < 5; k++) {
                written += o.add(incident(r, "same"), 1, NOW + k) ? 1 : 0;
                o = outbox("p");
            }
            assertEquals(2, written);
            assertTrue(o.add(incident(r, "other"), 1, NOW + 9));
            assertEquals("{rate-limit=3}", o.totals().toString());
            assertTrue(o.add(incident(r, "same"), 1, NOW + DAY));
            List<String> lines = lines(o.batch(10, 1 << 20, NOW));
            assertEquals(3.0, Reports.parse(lines.get(3)).get("leftOut"));
            assertFalse(Reports.parse(lines.get(2)).containsKey("leftOut"));
        }
    }

    @Test
    void aDamagedFileIsNeverSent() throws Exception {
        try (Reports r = new Reports()) {
            Outbox o = outbox("p");
            for (int k = 0; k < 40; k++) {
                o.add(incident(r, "k" + k), 1, NOW + k);
            }
            List<File> files = o.files();
            for (int k = 0; k < 39; k++) {
                try (RandomAccessFile f = new RandomAccessFile(files.get(k), "rw")) {
                    long at = k * f.length() / 39;
                    if (k % 2 == 0) {
                        f.setLength(at);
                    } else {
                        f.seek(at);
                        int b = f.read();
                        f.seek(at);
                        f.write(b ^ 1);
                    }
                }
            }
            assertEquals("[i39]", ids(o, NOW).toString());
            assertEquals(1, o.files().size());
            assertEquals("{torn=39}", o.totals().toString());
        }
    }

    @Test
    void aTemporaryFileOfAKilledProcessIsRemoved() throws Exception {
        File old = dir.resolve("0123.tmp").toFile();
        File young = dir.resolve("4567.tmp").toFile();
        for (File f : new File[] {old, young}) {
            Files.write(f.toPath(), new byte[] {1});
        }
        assertTrue(old.setLastModified(System.currentTimeMillis() - DAY));
        Outbox o = outbox("p");
        assertNull(o.batch(10, 1000, NOW));
        assertFalse(old.exists());
        assertTrue(young.exists());
    }

    @Test
    void anIncidentWaitsForItsEnd() throws Exception {
        try (Reports r = new Reports()) {
            Outbox o = outbox("p");
            Incident.Builder b = r.recorder.incident("sync-barrier", "sync-barrier");
            assertTrue(o.add(Report.of(r.incident(b), r.recorder, new About()), 1, NOW));
            assertEquals(0, o.waiting(NOW + 1));
            assertNull(o.batch(10, 1 << 20, NOW + 1));
            // If the process were killed now, the report would be sent some time later.
            assertEquals(1, outbox("q").waiting(NOW + limits.endMillis));
            assertTrue(o.add(Report.of(r.incident(b.end(r.platform.nanoTime() + 7)), r.recorder, new About()), 1,
                    NOW + 5));
            List<String> lines = lines(o.batch(10, 1 << 20, NOW + 6));
            assertEquals(1, lines.size());
            assertEquals(true, Reports.group(lines.get(0), "timing").get("ended"));
        }
    }

    @Test
    void anEndThatComesAfterTheReportWasSentIsCounted() throws Exception {
        try (Reports r = new Reports()) {
            Outbox o = outbox("p");
            Incident.Builder b = r.recorder.incident("sync-barrier", "sync-barrier");
            o.add(Report.of(r.incident(b), r.recorder, new About()), 1, NOW);
            o.done(o.batch(10, 1 << 20, NOW + limits.endMillis), 0);
            assertFalse(o.add(Report.of(r.incident(b.end(r.platform.nanoTime() + 7)), r.recorder, new About()), 1,
                    NOW + limits.endMillis));
            assertEquals("{late-end=1}", o.totals().toString());
            assertEquals(0, o.files().size());
        }
    }

    @Test
    void aDiskThatFailsCostsTheReportAndIsCounted() throws Exception {
        try (Reports r = new Reports()) {
            Files.write(dir.resolve("file"), new byte[] {1});
            Outbox o = new Outbox(dir.resolve("file").resolve("outbox").toFile(), "p", limits);
            assertFalse(o.add(incident(r, "k"), 1, NOW));
            assertEquals("{not-written=1}", o.totals().toString());
            assertNull(o.batch(10, 1000, NOW));
            assertNotEquals(0, o.installation());
        }
    }

    @Test
    void aUserIsWhollyInOrOut() {
        int in = 0;
        Sampling s = new Sampling(0.3, Collections.singletonMap("anr", 0.6));
        java.util.Random random = new java.util.Random(3);
        for (int k = 0; k < 20000; k++) {
            long user = random.nextLong();
            boolean message = s.takes("message", user);
            in += message ? 1 : 0;
            assertEquals(message, s.takes("input", user));
            assertTrue(!message || s.takes("anr", user), "a greater fraction removes no user");
            assertTrue(!message || new Sampling(0.31, Collections.<String, Double>emptyMap()).takes("message", user));
            assertFalse(new Sampling(0, Collections.<String, Double>emptyMap()).takes("message", user));
            assertTrue(Sampling.ALL.takes("message", user));
        }
        assertTrue(in > 5600 && in < 6400, in + " of 20000");
    }
}
