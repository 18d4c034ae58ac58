package dev.tracegen.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What Json writes, JsonReader reads as it was. */
class JsonTest {
    @Test
    void anyTextIsWrittenAndReadAsItWas() {
        Random random = new Random(1);
        for (int k = 0; k < 2000; k++) {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(20); n > 0; n--) {
                int c = random.nextInt(4) == 0 ? random.nextInt(0x110000) : 1 + random.nextInt(0xFF);
                if (c > 0 && c < 0xD800 || c > 0xDFFF) {
                    text.appendCodePoint(c);
                }
            }
            Json json = new Json();
            json.open('{').key(text.toString()).value(text.toString()).close('}');
            assertEquals(json.toString().getBytes(StandardCharsets.UTF_8).length, json.bytes());
            assertEquals(Collections.singletonMap(text.toString(), text.toString()), JsonReader.read(json.toString()));
            assertTrue(json.toString().chars().allMatch(c -> c >= 0x20), "a control character is not escaped");
        }
    }

    @Test
    void halfAPairIsNoCharacter() {
        Json json = new Json().value("a\uD800b\uDC00\0");
        assertEquals("\"a\uFFFDb\uFFFD\uFFFD\"", json.toString());
        assertEquals(json.toString().getBytes(StandardCharsets.UTF_8).length, json.bytes());
    }

    @Test
    void numbersDoNotDependOnTheLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(new Locale("ar", "EG"));
            Json json = new Json().open('[').millis(1234567890L).millis(-1500).millis(2000000).millis(1001000).value(7L)
                    .any(0.25).any(Double.NaN).any(true).close(']');
            assertEquals("[1234.567,-0.001,2,1.001,7,0.25,\"NaN\",true]", json.toString());
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void whatWasTakenBackIsGone() {
        Json json = new Json().open('{').key("a").value(1);
        int bytes = json.bytes();
        long mark = json.mark();
        json.key("b").value("ü");
        json.back(mark);
        assertEquals(bytes, json.bytes());
        assertEquals("{\"a\":1,\"c\":2}", json.key("c").value(2).close('}').toString());
    }

    @Test
    void aCutTextIsRefused() {
        String whole = "{\"accepted\":3,\"duplicates\":0,\"refused\":[{\"id\":\"a\\u0041\",\"why\":null}]}";
        assertEquals(3.0, Reports.parse(whole).get("accepted"));
        for (int k = 0; k < whole.length(); k++) {
            String cut = whole.substring(0, k);
            assertThrows(IllegalArgumentException.class, () -> JsonReader.read(cut), cut);
        }
        for (String wrong : new String[] {whole + "}", "[1,]", "{\"a\"}", "{\"a\":1 \"b\":2}", "01x", "tru", "\"\\x\"",
            String.join("", Collections.nCopies(50, "["))}) {
            assertThrows(IllegalArgumentException.class, () -> JsonReader.read(wrong), wrong);
        }
    }
}
