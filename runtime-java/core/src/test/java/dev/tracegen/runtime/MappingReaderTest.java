package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MappingReaderTest {
    private static final String MAPPING = "# tracegen-mapping 1\n# digest 0123456789abcdef\n"
            + "1,1,com.example.Main main ([Ljava.lang.String;)V\n"
            + "7,10,com.example.Main$1 run ()V\n"
            + "1048573,0,com.example.Caf\u00e9 <init> ()V\n"
            + "1048574,1,android.os.Handler dispatchMessage (Landroid.os.Message;)V\n"
            + "# retired 9,1,com.example.Old gone ()V\n";

    private int read;

    private MappingReader reader() {
        return new MappingReader(null) {
            @Override
            protected InputStream open() throws IOException {
                return new ByteArrayInputStream(MAPPING.getBytes("UTF-8")) {
                    @Override
                    public synchronized int read(byte[] b, int off, int len) {
                        int n = super.read(b, off, Math.min(len, 16));
                        read += Math.max(0, n);
                        return n;
                    }
                };
            }
        };
    }

    private String names(Integer... ids) throws IOException {
        return new TreeMap<Integer, String>(reader().names(Arrays.asList(ids))).toString();
    }

    @Test
    void namesAreFound() throws Exception {
        assertEquals("{1=com.example.Main.main, 7=com.example.Main$1.run, 1048573=com.example.Caf\u00e9.<init>}",
                names(7, 1, 1048573));
        assertEquals("{7=com.example.Main$1.run}", names(7, 8, 9, -1));
    }

    @Test
    void theFileIsReadOnlyAsFarAsNeeded() throws Exception {
        assertEquals("{1048574=android.os.Handler.dispatchMessage}", names(AppMethodBeat.METHOD_ID_DISPATCH));
        assertEquals("{}", names());
        assertEquals(0, read);
    }

    @Test
    void aMissingMappingIsAnError() {
        MappingReader missing = new MappingReader(new File("there/is/none"));
        assertThrows(FileNotFoundException.class,
                (org.junit.jupiter.api.function.Executable) () -> missing.names(Collections.singleton(1)));
    }

    @Test
    void aStallIsDescribed() throws Exception {
        StallFacts facts = new StallFacts(0, -1, -1);
        facts.lockOwner = "loader holds a.Lock";
        MessageRecord m = new MessageRecord(MessageRecord.NORMAL, 0, 1, 0, 900000000L, 4000000L,
                "Handler (a.B): 1", 0, 8);
        Recorder recorder = Recorder.start(new RecorderOptions().platform(new VirtualPlatform()).ringRecords(1024));
        CallTree tree = new CallTree(CallTreeTest.records("+D@0 +1@5 +7@6 -7@10 +7@10 -7@20 +5@20 -5@30 -1@900 -D@900"),
                900);
        Stall slow = new Stall(recorder.threads.main(), m, facts, tree, Collections.<MessageRecord>emptyList(), null);
        recorder.stop();
        assertEquals("stall: 900 ms on main: Handler (a.B): 1, 4 ms of CPU, waited for a lock: loader holds a.Lock\n"
                + "  android.os.Handler.dispatchMessage: 900 ticks\n"
                + "    com.example.Main.main: 895 ticks\n"
                + "      com.example.Main$1.run: 14 ticks in 2 calls\n"
                + "      method 5: 10 ticks", reader().describe(slow, 30));
    }
}
