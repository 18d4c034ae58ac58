package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineFactsTest {
    @TempDir
    Path root;

    private void write(String name, String text) throws Exception {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, text.getBytes("ISO-8859-1"));
    }

    private static String stat(String command, int base) {
        StringBuilder b = new StringBuilder("4711 (" + command + ") S");
        for (int k = 4; k <= 52; k++) {
            b.append(' ').append(k == 18 ? "10" : k == 19 ? "-10" : String.valueOf(base + k));
        }
        return b.append('\n').toString();
    }

    private void state(String command, int base) throws Exception {
        write("self/stat", stat(command, base));
        write("self/task/4711/stat", stat(command, 2 * base));
        write("self/task/4711/schedstat", base * 10000000L + " " + base * 20000000L + " 33\n");
        write("self/status", "Name:\tx: y\nVmRSS:\t  1234 kB\nVmSwap:\t56 kB\n");
        write("meminfo", "MemTotal:  8000 kB\nMemFree: 1 kB\nMemAvailable:  2000 kB\n");
        write("pressure/io", "some avg10=12.50 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.00\n");
    }

    @Test
    void ratesAreMadeOfTwoReadings() throws Exception {
        MachineFacts m = new MachineFacts(root.toFile());
        state("a (b) c) 7 ( x", 100);
        Map<String, String> before = m.read(MachineFacts.FIRST_THREAD, 1000000000L);
        state("a (b) c) 7 ( x", 150);
        Map<String, String> f = MachineFacts.between(before, m.read(4711, 2000000000L));
        assertEquals("1000", f.get("over-millis"));
        // 50 ticks of user and 50 of system time in a second.
        assertEquals("100", f.get("process-cpu-percent"));
        assertEquals("50", f.get("thread-cpu-percent"));
        assertEquals("100", f.get("thread-waited-for-processor-percent"));
        assertEquals("100", f.get("thread-major-faults"));
        assertEquals("1234", f.get("rss-kb"));
        assertEquals("8000", f.get("memory-total-kb"));
        assertEquals("2000", f.get("memory-available-kb"));
        assertEquals("12.50", f.get("io-pressure-percent"));
        assertNull(f.get("cpu-pressure-percent"));
        for (String key : f.keySet()) {
            assertFalse(key.startsWith("#"), key);
        }
    }

    @Test
    void withoutFilesOnlyTheVirtualMachineIsKnown() {
        MachineFacts m = new MachineFacts(new File(root.toFile(), "none"));
        Map<String, String> f = MachineFacts.between(m.read(1, 5), m.read(1, 1000000005L));
        assertEquals("[over-millis, processors, java-heap-used-kb, java-heap-max-kb]", f.keySet().toString());
        assertNull(MachineFacts.between(null, m.read(1, 5)).get("over-millis"));
    }

    @Test
    void damagedFilesAddNothingAndFailNothing() throws Exception {
        MachineFacts m = new MachineFacts(root.toFile());
        String[] files = {"self/stat", "self/task/4711/stat", "self/task/4711/schedstat", "self/status",
            "meminfo", "pressure/io"};
        Random random = new Random(5);
        state("x", 1);
        Map<String, String> before = m.read(4711, 1);
        for (int k = 0; k < 150; k++) {
            state("x", 2);
            for (String file : files) {
                byte[] b = Files.readAllBytes(root.resolve(file));
                int kept = random.nextInt(b.length + 1);
                byte[] damaged = java.util.Arrays.copyOf(b, kept);
                for (int n = random.nextInt(4); n > 0 && kept > 0; n--) {
                    damaged[random.nextInt(kept)] = (byte) random.nextInt(256);
                }
                Files.write(root.resolve(file), damaged);
            }
            MachineFacts.between(before, m.read(4711, 1 + k));
        }
    }

    @Test
    void thisProcessCanBeRead() {
        File proc = new File("/proc");
        if (!new File(proc, "self/stat").exists()) {
            return;
        }
        MachineFacts m = new MachineFacts(proc);
        long pid = ProcessNumber.get();
        Map<String, String> before = m.read(pid, 1);
        Map<String, String> f = MachineFacts.between(before, m.read(pid, 1000000001L));
        for (String key : new String[] {"process-cpu-percent", "thread-cpu-percent", "thread-major-faults",
            "rss-kb", "memory-total-kb"}) {
            assertTrue(f.containsKey(key), key + " in " + f);
        }
    }
}
