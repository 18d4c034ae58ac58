package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class MessageHistoryTest {
    private static final long MS = 1000000;

    private final MessageHistory history = new MessageHistory(new RecorderOptions().history(4, 16));
    private long at;
    private long sequence;

    private void message(long millis, String text) {
        MessageHistory.Entry m = new MessageHistory.Entry();
        m.text(text);
        add(m, millis);
    }

    private void add(MessageHistory.Entry m, long millis) {
        m.set(m.kindOfText(), sequence++, 1, at * MS, millis * MS, MS, 0, 0);
        history.add(m);
        at += millis;
    }

    private String all() {
        StringBuilder b = new StringBuilder();
        for (MessageRecord m : history.snapshot()) {
            b.append(m.kind).append(':').append(m.count).append('x').append(m.wallNanos / MS)
                    .append(m.description).append(' ');
        }
        return b.toString().trim();
    }

    @Test
    void shortMessagesAreMergedAndLongOnesKept() {
        message(3, "a");
        message(5, "b");
        message(4, "c");
        message(40, "long");
        message(1, "d");
        assertEquals("4:3x12b 0:1x40long 4:1x1d", all());
    }

    @Test
    void systemMessagesAreKept() {
        message(1, "a");
        message(2, ">>>>> Dispatching to Handler (android.app.ActivityThread$H) {1f} null: 159");
        message(1, "b");
        assertEquals("4:1x1a 2:1x2>>>>> Dispatching to Handler (android.app.ActivityThread$H) {1f} null: 159 4:1x1b",
                all());
    }

    @Test
    void theListIsBounded() {
        for (int k = 0; k < 10; k++) {
            message(20 + k, "m");
        }
        history.idle(at * MS, (at + 500) * MS);
        assertEquals("0:1x27m 0:1x28m 0:1x29m 1:0x500", all());
    }

    @Test
    void aMessageIsFoundByItsBegin() {
        message(20, "long");
        message(3, "short");
        assertEquals("long", history.at(0).description);
        assertNull(history.at(20 * MS), "that of merged messages");
        assertNull(history.at(1));
    }

    /** The next message uses the entry again. What was added before keeps its text. */
    @Test
    void messagesKeepTheirTexts() {
        MessageHistory.Entry m = new MessageHistory.Entry();
        m.text("one");
        add(m, 20);
        m.text("android.app.ActivityThread$H: 159");
        add(m, 1);
        m.text("text");
        add(m, 2);
        assertEquals("0:1x20one 2:1x1android.app.ActivityThread$H: 159 4:1x2text", all());
    }

    @Test
    void mergedEntriesAreBounded() {
        for (int k = 0; k < 40; k++) {
            message(15, "m");
        }
        assertEquals("4:20x300m 4:20x300m", all());
    }
}
