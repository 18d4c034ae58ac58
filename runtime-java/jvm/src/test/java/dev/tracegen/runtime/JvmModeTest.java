package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class JvmModeTest {
    @Test
    void misspelledPropertiesAreNamedWithTheNearest() {
        assertEquals(Arrays.asList(
                "there is no property tracegen.gat, and it has no effect; did you mean tracegen.gate?",
                "there is no property tracegen.nonsense, and it has no effect",
                "there is no property tracegen.outptu, and it has no effect; did you mean tracegen.output?",
                "there is no property tracegen.sloww, and it has no effect; did you mean tracegen.slow?"),
                JvmMode.misspelled(Arrays.asList("tracegen.sloww", "java.home", "tracegen.outptu", "tracegen.output",
                        "tracegen.threads", "tracegen.slow", "tracegen.tick", "tracegen.ring", "tracegen.gate",
                        "tracegen.pressure", "tracegen.mapping", "tracegen.message",
                        "tracegen.nonsense", "tracegen.gat", "mytracegen.output")));
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
