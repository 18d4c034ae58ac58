package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class JsonTextTest {
    @Test
    void fieldsOfMessages() {
        String line = "{\"level\":\"warning\",\"message\":\"a \\\"b\\\"\\n\\u003cinit\\u003e \\\\ é\"}";
        assertEquals("warning", JsonText.field(line, "level"));
        assertEquals("a \"b\"\n<init> \\ é", JsonText.field(line, "message"));
        assertNull(JsonText.field(line, "other"));
    }

    @Test
    void whatIsNoMessage() {
        assertNull(JsonText.field("panic: runtime error", "message"));
        assertNull(JsonText.field("{\"message\":\"no end", "message"));
        assertNull(JsonText.field("{\"message\":\"\\u12", "message"));
    }

    @Test
    void textsAreEscapedAsGoDoes() {
        assertEquals("C:\\\\a \\u0026 b\\\"", JsonText.escape("C:\\a & b\""));
    }
}
