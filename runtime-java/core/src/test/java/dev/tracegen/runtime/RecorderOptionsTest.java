package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tracegen.runtime.detector.Detectors;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class RecorderOptionsTest {
    private static String refusal(String key, String value) {
        try {
            new RecorderOptions().set(key, value);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
        return fail(key + "=" + value + " was taken");
    }

    @Test
    void optionsAreSetByName() {
        RecorderOptions o = new RecorderOptions().set("ring", "5000").set("threads", "all").set("slow", "1")
                .set("tick", "us")
                .set("memory", "3M").set("every-record", "true").set("gate", "off");
        assertEquals(8192, o.ringRecords);
        assertEquals(8192, o.threadRingRecords);
        assertEquals(RecorderOptions.THREADS_ALL, o.threads);
        assertEquals(1, o.slowMillis);
        assertEquals(1000, o.tickNanos);
        assertEquals(0, o.clockPeriodMillis);
        assertEquals(5, o.set("tick", "ms").clockPeriodMillis);
        assertEquals(1000, o.tickNanos);
        assertEquals(3 << 20, MemoryBudget.bytes(o));
        assertEquals(2000000, MemoryBudget.bytes(o.set("memory", "2000000")));
        assertEquals(1 << 20, MemoryBudget.bytes(o.set("memory", "1024K")));
        assertEquals(false, o.virtualThreads);
        assertEquals(true, o.set("threads", "all,virtual").virtualThreads);
        assertEquals(RecorderOptions.THREADS_ALL, o.threads);
        assertEquals(false, o.set("threads", "all").virtualThreads);
        assertEquals(true, o.everyRecord);
        assertEquals(false, o.gate);
        assertEquals(true, o.set("gate", "auto").gate);
    }

    @Test
    void wrongValuesAreReported() {
        String ring = "want a whole number of records, 1024 to 67108864";
        assertEquals(ring, refusal("ring", "1023"));
        assertEquals(ring, refusal("ring", "67108865"));
        assertEquals(ring, refusal("ring", "8k"));
        assertEquals("want a whole number of milliseconds, at least 1", refusal("slow", "0"));
        assertEquals("want main or chosen or all or all,virtual", refusal("threads", "some"));
        assertEquals("want auto or counted or off", refusal("gate", "on"));
        String memory = "want a whole number of bytes, KiB or MiB of at least 1M, such as 16M";
        assertEquals(memory, refusal("memory", "1023K"));
        assertEquals(memory, refusal("memory", "-1"));
        assertEquals(memory, refusal("memory", "1G"));
        assertEquals(memory, refusal("memory", "M"));
        assertEquals("unknown key", refusal("colour", "x"));
    }

    /** The table in the comment of RecorderOptions has each key of an app and of a JVM with its default. */
    @Test
    void eachOptionIsDocumentedWithItsDefault() throws Exception {
        String source = new String(Files.readAllBytes(Paths.get(
                "../core/src/main/java/dev/tracegen/runtime/RecorderOptions.java")), "UTF-8");
        TreeSet<String> keys = new TreeSet<String>(OptionTable.keys(OptionTable.APP));
        keys.addAll(OptionTable.keys(OptionTable.JVM));
        int documented = 0;
        for (String key : keys) {
            boolean elsewhere = key.startsWith("upload-") || key.startsWith("outbox-") || key.equals("sampling")
                    || key.equals("config-key");
            if (elsewhere || key.contains(".") && !key.equals("gate.file")) {
                continue;
            }
            Matcher m = Pattern.compile("\n \\*   " + key
                    + " +(\\S*)[^\n]*(?:\n \\*      [^\n]*)*").matcher(source);
            assertTrue(m.find(), key);
            String of = OptionTable.defaultOf(key);
            boolean ofPlatform = key.equals("file-megabytes") || key.startsWith("keep-");
            assertTrue(of.isEmpty() || of.equals(m.group(1)) || ofPlatform, key + ": " + m.group(1));
            boolean property = OptionTable.keys(OptionTable.JVM).contains(key)
                    && OptionTable.keys(OptionTable.APP).contains(key);
            assertEquals(property, m.group().contains("(J)"), key);
            documented++;
        }
        assertTrue(documented >= 22, documented + " keys only");
    }

    @Test
    void propertiesAreApplied() {
        Properties p = new Properties();
        p.setProperty("slow", " 5 ");
        p.setProperty("detectors", "anr, nonsense,watchdog");
        p.setProperty("watchdog.poll-milis", "3");
        p.setProperty("message", "a.B#c");
        p.setProperty("upload", "https://x");
        p.setProperty("serial", "1");
        RecorderOptions o = new RecorderOptions().apply(p);
        assertEquals(5, o.slowMillis);
        assertEquals("[anr, watchdog]", o.names("detectors").toString());
        assertEquals(5000, o.number("watchdog.poll-millis"));
        assertEquals("detectors=anr, nonsense,watchdog: there is no detector nonsense; there are "
                + Detectors.NAMES + "; the others are on\n"
                + "message=a.B#c: unknown key; the default is used\nserial=1: unknown key; the default is used\n"
                + "watchdog.poll-milis=3: unknown key; the default is used",
                String.join("\n", o.problems()));
        RecorderOptions remote = new RecorderOptions().applyRemote(p);
        assertEquals(5, remote.slowMillis);
        assertEquals("none", remote.get("upload"));
        assertEquals(1, remote.problems().size());
        assertEquals("none", new RecorderOptions().applyRemote(p).copy().get("upload"));
    }

    @Test
    void ringsAreWithinBounds() {
        assertEquals(1024, new RecorderOptions().ringRecords(-1).ringRecords);
        assertEquals(1 << 26, new RecorderOptions().threadRingRecords(Integer.MAX_VALUE).threadRingRecords);
        assertEquals(1 << 17, new RecorderOptions().ringRecords(1 << 22).threadRingRecords);
    }

    private static void enter(int times) {
        for (int k = 0; k < times; k++) {
            AppMethodBeat.i(1);
        }
    }

    @Test
    void eachRingBeginsSmallAndGrowsToItsLimit() throws Exception {
        final Recorder recorder = Recorder.start(new RecorderOptions().platform(new VirtualPlatform()).ringRecords(4096)
                .threadRingRecords(2048).threads(RecorderOptions.THREADS_ALL));
        AppMethodBeat.i(1);
        assertEquals(Rings.FIRST_RECORDS, recorder.threads.main().existingRing().length());
        final int[] length = new int[1];
        Thread other = new Thread() {
            @Override
            public void run() {
                enter(10000);
                length[0] = recorder.threads.of(this).existingRing().length();
            }
        };
        other.start();
        other.join();
        enter(10000);
        assertEquals(4096, recorder.threads.main().existingRing().length());
        assertEquals(2048, length[0]);
        recorder.stop();
    }
}
