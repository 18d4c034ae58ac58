package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which calls of a thread count as messages, and which methods are declared to be such. */
class OutermostCallsTest {
    @TempDir
    Path dir;

    private static final String MAPPING = "# tracegen-mapping 1\n# digest 0000000000000000\n"
            + "1,1,a.Worker run ()V\n2,1,a.Worker loop ()V\n5,1,a.Server handle (I)V\n"
            + "6,1,a.Server$Inner handle ()V\n7,1,a.b.Server handle ()V\n8,2,a.Server handleAll ()V\n";

    private final VirtualPlatform platform = new VirtualPlatform();

    private static MessageMethods methods(int... ids) {
        MessageMethods m = new MessageMethods();
        for (int id : ids) {
            m.methods.set(id);
        }
        return m;
    }

    /** Returns the messages of records, each with its method, its times in ticks, and its records. */
    private static String messages(CallsOfThread calls, String records) {
        StringBuilder b = new StringBuilder();
        long number = 0;
        for (long r : CallTreeTest.records(records)) {
            MessageHistory.Entry ended = calls.add(r, number++, 1 + (r & Ring.TIME_MASK));
            if (ended != null) {
                MessageRecord m = ended.record();
                b.append(m.sequence).append(' ').append(m.description).append(' ').append(m.beginNanos - 1).append('+')
                        .append(m.wallNanos).append(" [").append(m.firstRecord).append(',').append(m.endRecord)
                        .append(") ");
            }
        }
        return b.append(calls.since() == 0 ? "none" : calls.number() + " since " + (calls.since() - 1)).toString();
    }

    @Test
    void withoutDeclaredMethodsOutermostCallsAreMessages() {
        assertEquals("0 method 1 0+9 [0,4) 1 since 10",
                messages(new CallsOfThread(null), "+1@0 +5@1 -5@2 -1@9 +2@10 +5@11"));
    }

    @Test
    void callsOfADeclaredMethodAreMessages() {
        // The loop is taken for a message until it shows that it encloses one.
        CallsOfThread calls = new CallsOfThread(methods(5));
        assertEquals("0 since 0", messages(calls, "+1@0 +2@0"));
        calls = new CallsOfThread(methods(5));
        assertEquals("1 method 5 3+4 [2,6) 2 method 5 9+2 [6,8) none",
                messages(calls, "+1@0 +2@0 +5@3 +7@4 -7@5 -5@7 +5@9 -5@11 -2@20 -1@20"));
        assertEquals("3 since 21", messages(calls, "+1@20 +5@21"));
    }

    @Test
    void nestedMessagesAreOne() {
        assertEquals("1 method 5 1+5 [1,7) 2 method 6 7+1 [7,9) none",
                messages(new CallsOfThread(methods(5, 6)), "+1@0 +5@1 +5@2 +6@3 -6@4 -5@5 -5@6 +6@7 -6@8"));
    }

    /** The record is that of the call around it, so it is not the message's own. */
    @Test
    void anExceptionLeavesAMessage() {
        assertEquals("1 method 5 1+3 [2,4) none",
                messages(new CallsOfThread(methods(5)), "+1@0 +2@0 +5@1 +7@2 -2@4"));
    }

    @Test
    void aDeclaredMethodCanBeOutermost() {
        assertEquals("0 method 5 0+9 [0,4) 1 method 3 10+1 [4,6) none",
                messages(new CallsOfThread(methods(5)), "+5@0 +1@1 -1@2 -5@9 +3@10 -3@11"));
    }

    /** A thread that waits for its first message has none, if its loop has had messages on another thread. */
    @Test
    void aLoopIsNoMessageOnAnyThread() {
        MessageMethods methods = methods(5);
        CallsOfThread waiting = new CallsOfThread(methods);
        assertEquals("0 since 0", messages(waiting, "+1@0 +2@0"));
        assertEquals("1 method 5 1+1 [1,3) none", messages(new CallsOfThread(methods), "+1@0 +5@1 -5@2"));
        assertEquals("none", messages(waiting, "+2@3"));
        assertEquals("none", messages(waiting, "-1@9"));
        assertEquals("none", messages(waiting, "+1@10 -1@30"));
    }

    private String find(String declared, final String mapping) throws IOException {
        RecorderOptions o = new RecorderOptions().platform(platform);
        if (mapping != null) {
            o.set("mapping", Files.write(dir.resolve("mapping.txt"), mapping.getBytes("UTF-8")).toString());
        }
        return String.valueOf(MessageMethods.find(o, declared));
    }

    @Test
    void methodsAreFoundInTheMapping() throws Exception {
        assertEquals("null", find(null, MAPPING));
        assertEquals("5,8", find(null, MAPPING + "# message 5\n# message 8\n"));
        assertEquals("7", find("7", MAPPING + "# message 8\n"));
        assertEquals("9,12", find("12,9", null));
        assertEquals("", platform.logged.toString());
    }

    @Test
    void whatCannotBeFoundIsLogged() throws Exception {
        assertEquals("null", find("a.Server#handle", null));
        assertEquals("5", find("a.Server,5", MAPPING));
        assertEquals("null", find(null, MAPPING.replace("digest 0", "digest 1") + "# message 5\n"));
        assertEquals("message a.Server#handle: want the ID of a method, which tracegen lookup prints; it is ignored\n"
                + "message a.Server: want the ID of a method, which tracegen lookup prints; it is ignored\n",
                platform.logged.toString());
    }
}
