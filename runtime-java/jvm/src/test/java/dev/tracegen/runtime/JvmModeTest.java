package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class JvmModeTest {
    @Test
    void misspelledPropertiesAreNamed() {
        List<String> lines = JvmMode.misspelled(Arrays.asList("tracegen.sloww", "java.home", "tracegen.output",
                "tracegen.gate", "tracegen.ring", "tracegen.nonsense", "mytracegen.output"));
        assertEquals(2, lines.size());
        assertTrue(lines.get(0).startsWith("there is no property tracegen.nonsense, and it has no effect; there are ["),
                lines.get(0));
        assertTrue(lines.get(1).startsWith("there is no property tracegen.sloww, "), lines.get(1));
        assertTrue(lines.get(1).contains(", slow, "), lines.get(1));
    }

    @Test
    void theFirstCallLogsThem() {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setProperty("tracegen.outptu", "x.tgd");
        System.setErr(new PrintStream(said));
        try {
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
        } finally {
            System.setErr(before);
            System.clearProperty("tracegen.outptu");
        }
        assertTrue(said.toString().contains("tracegen: there is no property tracegen.outptu"), said.toString());
    }
}
