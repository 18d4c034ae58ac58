package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.FileClaim;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sender, with real files and a real HTTP server, and a clock that the test sets. */
class SenderTest {
    @TempDir
    Path dir;

    private static final long HOUR = 3600000;

    private final SenderOptions options = new SenderOptions();
    private final OutboxLimits limits = new OutboxLimits();
    private final FakePlatform platform = new FakePlatform();
    private final Random random = new Random(4);
    private Collector collector;
    private String unsuitable = "";
    private int written;

    @BeforeEach
    void open() throws Exception {
        collector = new Collector();
        options.enoughReports = 1;
        limits.perKeyAndDay = 1 << 20;
        limits.reports = 1 << 20;
    }

    @AfterEach
    void close() {
        collector.close();
    }

    private Outbox outbox() {
        return new Outbox(dir.resolve("outbox").toFile(), "p", limits);
    }

    private HttpUploader http() {
        return collector.uploader("secret");
    }

    /** A sender as of another start of the process. */
    private Sender sender() {
        return new Sender(outbox(), http(), () -> unsuitable, platform, options, random);
    }

    /** Writes reports, and returns their IDs. */
    private Set<String> write(int n) {
        Set<String> ids = new HashSet<String>();
        Outbox o = outbox();
        for (int k = 0; k < n; k++) {
            String id = "0123456789abcdef-i" + written++;
            Json json = new Json().open('{');
            json.key("id").value(id).key("text").value("\u00fc \" \\ \u4e2d " + random.nextLong());
            Report report = report(id, json);
            assertTrue(o.add(report, 1, platform.wallMillis()));
            ids.add(id);
        }
        return ids;
    }

    private static Report report(String id, Json json) {
        try {
            java.lang.reflect.Constructor<Report> c = Report.class.getDeclaredConstructor(String.class, String.class,
                    String.class, boolean.class, Json.class);
            c.setAccessible(true);
            return c.newInstance(id, "message", "00000000000000aa", true, json);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private int waiting() {
        return outbox().waiting(platform.wallMillis());
    }

    @Test
    void reportsAreDeletedWhenTheyAreDelivered() throws Exception {
        Set<String> ids = write(150);
        sender().step();
        assertEquals(ids, collector.taken.keySet());
        assertEquals(0, waiting());
        assertEquals("[POST /v1/reports Bearer secret, POST /v1/reports Bearer secret, POST /v1/reports Bearer secret]",
                collector.requests.toString());
        for (String line : collector.taken.values()) {
            assertTrue(Reports.parse(line).get("text").toString().startsWith("\u00fc \" \\ \u4e2d "), line);
        }
        assertEquals("", platform.logged.toString());
    }

    @Test
    void aBadAnswerKeepsTheReportsAndTheNextStartWaitsToo() throws Exception {
        Object[] bad = {429, 500, 503, Collector.Way.HALF, Collector.Way.NOTHING, Collector.Way.ENDLESS,
            Collector.Way.NO_JSON, Collector.Way.ONE_LESS};
        for (Object way : bad) {
            Set<String> ids = write(3);
            collector.taken.clear();
            collector.requests.clear();
            collector.ways.add(way);
            sender().step();
            assertEquals(3, waiting(), way.toString());
            assertEquals(1, collector.requests.size(), way.toString());
            // Another start of the process a moment later sends nothing.
            platform.pass(10);
            sender().step();
            assertEquals(1, collector.requests.size(), way.toString());
            platform.pass(HOUR);
            sender().step();
            assertEquals(2, collector.requests.size(), way.toString());
            assertEquals(0, waiting(), way.toString());
            assertEquals(ids, collector.taken.keySet(), way.toString());
        }
    }

    @Test
    void theWaitGrowsAndIsRandomAndHasAnEnd() throws Exception {
        write(1);
        List<Long> waits = new ArrayList<Long>();
        long last = platform.wallMillis();
        for (int k = 0; k < 25; k++) {
            collector.ways.add(500);
            int before = collector.requests.size();
            while (collector.requests.size() == before) {
                platform.pass(1000);
                sender().step();
                assertTrue(platform.wallMillis() - last <= 6 * HOUR + 60000, "the wait has no end");
            }
            waits.add(platform.wallMillis() - last);
            last = platform.wallMillis();
        }
        assertTrue(waits.get(1) <= 31000, waits.toString());
        long longest = 0;
        for (long w : waits) {
            longest = Math.max(longest, w);
        }
        assertTrue(longest > HOUR, "it does not grow: " + waits);
        assertTrue(new HashSet<Long>(waits.subList(12, 25)).size() > 5, "it is not random: " + waits);
    }

    @Test
    void theCollectorSaysWhenToComeAgain() throws Exception {
        write(1);
        collector.retryAfter = "7200";
        collector.ways.add(503);
        sender().step();
        platform.pass(2 * HOUR - 1000);
        sender().step();
        assertEquals(1, collector.requests.size());
        platform.pass(HOUR);
        sender().step();
        assertEquals(2, collector.requests.size());
        assertEquals(0, waiting());
    }

    @Test
    void aWrongTokenOrAddressStopsForAnHour() throws Exception {
        for (Object way : new Object[] {401, 403, 404, Collector.Way.REDIRECT}) {
            write(1);
            collector.requests.clear();
            collector.ways.add(way);
            sender().step();
            platform.pass(HOUR - 1000);
            sender().step();
            assertEquals(1, collector.requests.size(), "a redirect is not followed: " + collector.requests);
            assertEquals(1, waiting());
            platform.pass(2000);
            sender().step();
            assertEquals(0, waiting());
        }
    }

    @Test
    void whatIsRefusedForEverIsDeletedAndCounted() throws Exception {
        write(5);
        collector.ways.add(400);
        sender().step();
        assertEquals(0, waiting());
        assertEquals(0, collector.taken.size());
        write(5);
        collector.ways.add(Collector.Way.REFUSE_ONE);
        sender().step();
        assertEquals(0, waiting());
        assertEquals(4, collector.taken.size());
        Outbox o = outbox();
        o.installation();
        assertEquals("{refused=6}", o.totals().toString());
    }

    @Test
    void aBatchThatIsTooLargeIsHalved() throws Exception {
        Set<String> ids = write(64);
        collector.refusedAbove = 10;
        sender().step();
        assertEquals(ids, collector.taken.keySet());
        assertEquals(0, waiting());
        assertEquals(3 + 8, collector.requests.size(), "64, 32, 16, and eight of 8");
        write(1);
        collector.refusedAbove = 0;
        sender().step();
        assertEquals(0, waiting(), "a single report that is too large is refused for ever");
    }

    @Test
    void nothingIsSentInABadMomentOrTooEarlyOrTwice() throws Exception {
        options.enoughReports = 3;
        write(2);
        Sender s = sender();
        s.step();
        assertEquals(0, collector.requests.size());
        platform.pass(options.longestWait);
        unsuitable = "the network costs money";
        s.step();
        assertEquals(0, collector.requests.size());
        unsuitable = "";
        FileClaim other = FileClaim.of(dir.resolve("outbox").resolve("sender.lock").toFile());
        s.step();
        assertEquals(0, collector.requests.size(), "another process sends");
        other.release();
        s.step();
        assertEquals(1, collector.requests.size());
        write(3);
        s.step();
        assertEquals(5, collector.taken.size());
    }

    @Test
    void aClockThatIsSetBackStopsNothingForLong() throws Exception {
        write(1);
        collector.ways.add(401);
        sender().step();
        platform.wall.addAndGet(-1000 * HOUR);
        sender().step();
        assertEquals(0, waiting());
    }

    @Test
    void anyOrderOfAnswersLosesNothingAndDeliversNothingTwice() throws Exception {
        Object[] all = {429, 500, 503, 401, Collector.Way.WHOLE, Collector.Way.WHOLE, Collector.Way.WHOLE,
            Collector.Way.HALF, Collector.Way.NOTHING, Collector.Way.REDIRECT, Collector.Way.NO_JSON,
            Collector.Way.ONE_LESS};
        for (int seed = 0; seed < 6; seed++) {
            random.setSeed(seed);
            Set<String> ids = new HashSet<String>();
            collector.taken.clear();
            Sender s = sender();
            for (int k = 0; k < 60; k++) {
                ids.addAll(write(random.nextInt(4)));
                collector.ways.clear();
                for (int n = 0; n < 10; n++) {
                    collector.ways.add(all[random.nextInt(all.length)]);
                }
                collector.refusedAbove = 1 + random.nextInt(20);
                s = random.nextInt(3) == 0 ? sender() : s;
                s.step();
                platform.pass(random.nextInt((int) HOUR));
            }
            collector.ways.clear();
            collector.refusedAbove = Integer.MAX_VALUE;
            platform.pass(7 * HOUR);
            sender().step();
            assertEquals(ids, collector.taken.keySet());
            assertEquals(0, waiting());
            Outbox o = outbox();
            o.installation();
            assertEquals("{}", o.totals().toString());
        }
    }

    @Test
    void aCollectorThatDoesNotReadIsLeftInTime() throws Exception {
        try (java.net.ServerSocket deaf = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            HttpUploader u = new HttpUploader("http://127.0.0.1:" + deaf.getLocalPort(), null,
                    false, 60000, 600000, 50);
            write(1);
            UploadResult r = u.reports(outbox().batch(1, 1000, platform.wallMillis()));
            assertEquals(UploadResult.Kind.LATER, r.kind);
        }
    }

    @Test
    void onlyEncryptedAddressesAndThisMachineAreTaken() {
        for (String wrong : new String[] {"http://example.com", "ftp://example.com", "example.com", "https://", ""}) {
            assertThrows(IllegalArgumentException.class, () -> new HttpUploader(wrong, "t", false), wrong);
        }
        assertEquals("https://example.com/x", new HttpUploader("https://example.com/x/", "t", false).base.toString());
        assertEquals("http://example.com", new HttpUploader("http://example.com", "t", true).base.toString());
        new HttpUploader("http://localhost:1/", "t", false);
        new HttpUploader("http://[::1]:1/", "t", false);
        assertThrows(IllegalArgumentException.class,
                () -> new HttpUploader("http://127.0.0.1.example.com", "t", false));
    }

    @Test
    void recordingsAreDeletedOnlyWhenTheyAreStored() throws Exception {
        File output = dir.resolve("recordings").resolve("app.tgd").toFile();
        assertTrue(output.getParentFile().mkdirs());
        List<String> ids = new ArrayList<String>();
        for (int k = 0; k < 3; k++) {
            Recorder r = Recorder.start(new RecorderOptions().output(output).everyRecord(true).meta("package", "a.b"));
            AppMethodBeat.i(5);
            ids.add(r.recordingId());
            r.stop();
            awaitThreads();
        }
        options.recordings = output.getParentFile();
        assertEquals(3, output.getParentFile().list().length);
        Sender s = sender();
        s.step();
        assertEquals(0, collector.requests.size(), "not right after the start");
        platform.pass(options.recordingsDelay);
        byte[] oldest = Files.readAllBytes(output.toPath().resolveSibling("app.tgd.2"));
        collector.ways.addAll(Arrays.<Object>asList(Collector.Way.WHOLE, 409, 500));
        s.step();
        assertEquals(2, output.getParentFile().list().length, "409 and 500 delete nothing: "
                + platform.logged + collector.requests);
        platform.pass(HOUR);
        s.step();
        assertEquals(1, output.getParentFile().list().length, "what was refused remains, and is not sent again");
        assertEquals(4, collector.requests.size());
        Map.Entry<String, byte[]> first = collector.recordings.entrySet().iterator().next();
        StringBuilder sum = new StringBuilder();
        for (byte b : MessageDigest.getInstance("SHA-256").digest(oldest)) {
            sum.append(String.format("%02x", b));
        }
        assertEquals("/v1/recordings/" + ids.get(0) + "/1 " + sum + " a.b 0000000000000000", first.getKey());
        assertArrayEquals(oldest, first.getValue());
        assertEquals("TGD1", new String(first.getValue(), 0, 4, StandardCharsets.US_ASCII));
    }

    @Test
    void theThreadSendsWhenItIsWokenAndEnds() throws Exception {
        Sender s = sender();
        s.start();
        s.start();
        Set<String> ids = write(2);
        s.wake();
        for (long begin = System.nanoTime(); !collector.taken.keySet().equals(ids);) {
            assertTrue(System.nanoTime() - begin < 180000000000L, "nothing was sent");
            Thread.sleep(1);
        }
        s.stop();
        awaitThreads();
        assertFalse(Thread.currentThread().isInterrupted());
    }

    private static void awaitThreads() throws Exception {
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().matches("tracegen-(sampler|writer|delivery|sender)")) {
                t.join(180000);
                assertFalse(t.isAlive(), t.getName());
            }
        }
    }
}
