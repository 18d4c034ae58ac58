package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a recording keeps of texts that may hold personal data. */
class MessageTextTest {
    private static final String PRINTED = ">>>>> Dispatching to ";

    @Test
    void classesAndWhatRemain() {
        String[][] wants = {
            {PRINTED + "Handler (android.os.Handler) {1a2b} null: 0", "Handler (android.os.Handler) null: 0"},
            {PRINTED + "Handler (android.view.Choreographer$FrameHandler) {1a2b}"
                    + " android.view.Choreographer$FrameDisplayEventReceiver@3c4d: 0",
                "Handler (android.view.Choreographer$FrameHandler)"
                    + " android.view.Choreographer$FrameDisplayEventReceiver: 0"},
            {PRINTED + "Handler (a.b) {1a2b} c.d@9: -7", "Handler (a.b) c.d: -7"},
            {PRINTED + "Handler (a.b) {1} -$$Lambda$Feed$x_Y@9: 3", "Handler (a.b) -$$Lambda$Feed$x_Y: 3"},
            {PRINTED + "Handler (a.b) {1} com.x.Feed$$Lambda$14/0x000801@9: 3",
                "Handler (a.b) com.x.Feed$$Lambda$14/0x000801: 3"},
            {PRINTED + "Handler (a.b) {1} DispatchedContinuation[Main, secret]: 0",
                "Handler (a.b) DispatchedContinuation: 0"},
            {PRINTED + "Handler (a.b) {1} com.example.Task{user=Bob Miller}: 5", "Handler (a.b) com.example.Task: 5"},
            {PRINTED + "Handler (a.b) {1} com.example.Task: 5", "Handler (a.b) com.example.Task: 5"},
            {PRINTED + "Handler (a.b) {1} Bob Miller: 5", "Handler (a.b) ?: 5"},
            {PRINTED + "Handler (a.b) {1} bob.miller: 5", "Handler (a.b) ?: 5"},
            {PRINTED + "Handler (a.b) {1} bob@example.com: 5", "Handler (a.b) ?: 5"},
            {PRINTED + "Handler (a.b) {1} 4111111111111111: 5", "Handler (a.b) ?: 5"},
            {PRINTED + "Handler (a.b) {1} pin: 1234: 5", "Handler (a.b) ?: 5"},
            {PRINTED + "Handler (of Bob) {1} null: 5", "Handler (?) null: 5"},
            {PRINTED + "Bob's handler com.example.Task@12: 5", "Handler (?) ?: 5"},
            {PRINTED + "com.example.H@12 com.example.Task@12: 5", "Handler (com.example.H) com.example.Task: 5"},
            {PRINTED + "bob.miller null: 5", "Handler (?) null: 5"},
            {PRINTED + "whatever", "(text not recorded)"},
            {PRINTED, "(text not recorded)"},
            {"Bob's job", "(text not recorded)"},
            {"com.example.Handler: 7", "(text not recorded)"},
            {"job of Bob Miller: 7", "(text not recorded)"},
            {"IdleHandler com.example.Idle", "IdleHandler com.example.Idle"},
            {"IdleHandler of Bob", "(text not recorded)"},
            {"method 17", "method 17"},
            {"method of payment", "(text not recorded)"},
        };
        for (String[] want : wants) {
            assertEquals(want[1], MessageText.classes(want[0]), want[0]);
        }
    }

    /** Nothing of an unknown text remains, however it is cut: no letter of it. */
    @Test
    void noTextThrowsAndNoSecretRemains() {
        String all = PRINTED + "Handler (a.b) {1a2b} the secret of Bob {1} (x) @ c.d@12 : : -5";
        for (int from = 0; from < all.length(); from++) {
            for (int to = from; to <= all.length(); to++) {
                assertFalse(MessageText.classes(all.substring(from, to)).contains("secret"), all.substring(from, to));
            }
        }
    }

    @Test
    void theRedactorGetsEveryKindOnceForEachText() {
        final List<String> got = new ArrayList<String>();
        Texts texts = new Texts(new RecorderOptions().redactor(new TextRedactor() {
            @Override
            public String redact(String kind, String text) {
                got.add(kind + "=" + text);
                if (text.equals("throws")) {
                    throw new IllegalStateException();
                }
                return text.equals("null") ? null : "<" + text + ">";
            }
        }));
        for (int k = 0; k < 2; k++) {
            assertEquals("<method 1>", texts.message("method 1"));
            assertEquals("<main>", texts.thread("main"));
            assertEquals("", texts.scene("null"));
            assertEquals("(redacted)", texts.scene("throws"));
            assertEquals("<main>", texts.lockOwner("main"));
            assertEquals("<Main>", texts.command("Main"));
            assertEquals(null, texts.scene(null));
            assertEquals("", texts.message(null));
        }
        assertEquals(Arrays.asList("message=method 1", "thread=main", "scene=null", "scene=throws", "lock-owner=main",
                "command=Main"), got);
    }

    @Test
    void whatIsDeliveredIsRedactedToo() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        final List<Stall> delivered = Collections.synchronizedList(new ArrayList<Stall>());
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                delivered.add(stall);
            }
        });
        Recorder recorder = Recorder.start(new RecorderOptions().platform(platform).redactor(new TextRedactor() {
            @Override
            public String redact(String kind, String text) {
                return kind + "!";
            }
        }));
        try {
            recorder.scene("Bob's page");
            ThreadTrace main = recorder.thread(Thread.currentThread());
            for (int k = 0; k < 2; k++) {
                main.messageBegin(PRINTED + "Handler (a.b) {1} Bob: " + k);
                platform.pass(800);
                main.messageEnd();
            }
            Await.until("the stalls are delivered", () -> delivered.size() == 2);
        } finally {
            Recorder.setStallListener(null);
            Await.stop(recorder);
        }
        Stall s = delivered.get(1);
        assertEquals("message! scene! thread! message!", s.description + " " + s.scene + " " + s.thread + " "
                + s.history.get(s.history.size() - 1).description);
    }
}
