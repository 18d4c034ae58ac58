package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which posts name a message, and which do not. The expected names are those of a queue that is written down here. */
class PostedByTest {
    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private ThreadTrace main;

    /** Stands for {@code android.os.Handler}. */
    private static class Handler {
        @Override
        public String toString() {
            String hash = Integer.toHexString(System.identityHashCode(this));
            return "Handler (" + getClass().getName() + ") {" + hash + "}";
        }
    }

    /** Stands for {@code android.os.Message}. */
    private static final class Message {
        Handler target;
        Runnable callback;
        int what;
    }

    private static class Task implements Runnable {
        @Override
        public void run() {
        }
    }

    private static final class Pool implements Executor {
        @Override
        public void execute(Runnable task) {
        }
    }

    @BeforeEach
    void start() {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024)
                .history(200, 0));
        main = recorder.threads.main();
        PostedBy.begin(new PostedBy.Targets() {
            @Override
            public boolean isHandler(Object target) {
                return target instanceof Handler;
            }

            @Override
            public boolean postsRunnables(Object target) {
                return target instanceof Handler;
            }

            @Override
            public boolean isMessage(Object posted) {
                return posted instanceof Message;
            }

            @Override
            public Object handlerOf(Object message) {
                return ((Message) message).target;
            }

            @Override
            public Runnable callbackOf(Object message) {
                return ((Message) message).callback;
            }

            @Override
            public int whatOf(Object message) {
                return ((Message) message).what;
            }
        });
    }

    @AfterEach
    void stop() {
        PostedBy.end();
        recorder.stop();
    }

    /** Runs a message as a Looper with a Printer does, and returns what is known about it. */
    private MessageRecord printed(Object handler, Object callback, int what) {
        String text = ">>>>> Dispatching to " + handler + " " + callback + ": " + what;
        main.messageBegin(text);
        PostedBy.began(main, text);
        main.messageEnd();
        List<MessageRecord> all = main.history();
        return all.get(all.size() - 1);
    }

    @Test
    void oneRunnable() {
        Handler h = new Handler();
        Task task = new Task();
        long before = System.nanoTime();
        AppMethodBeat.posted(h, task, 7);
        long after = System.nanoTime();
        assertEquals(0, printed(h, new Task(), 0).postedBy);
        MessageRecord m = printed(h, task, 0);
        assertEquals(7, m.postedBy);
        assertTrue(m.postedNanos >= before && m.postedNanos <= after);
        assertEquals(0, printed(h, task, 0).postedBy, "the post was of the message before");
    }

    @Test
    void messagesOfAHandler() {
        Handler h = new Handler();
        Handler other = new Handler();
        AppMethodBeat.posted(h, 3, 7);
        AppMethodBeat.posted(h, 4, 8);
        AppMethodBeat.posted(other, 3, 9);
        assertEquals(8, printed(h, null, 4).postedBy);
        assertEquals(9, printed(other, null, 3).postedBy);
        assertEquals(0, printed(h, null, 5).postedBy);
        assertEquals(7, printed(h, null, 3).postedBy);
        Message m = new Message();
        m.target = other;
        m.what = -2;
        AppMethodBeat.posted(m, m, 10);
        assertEquals(10, printed(other, null, -2).postedBy);
        m.target = null;
        AppMethodBeat.posted(h, m, 11);
        assertEquals(11, printed(h, null, -2).postedBy);
        m.callback = new Task();
        AppMethodBeat.posted(h, m, 12);
        assertEquals(12, printed(h, m.callback, -2).postedBy);
    }

    @Test
    void twoMethodsOfOneRunnable() {
        Handler h = new Handler();
        Task task = new Task();
        AppMethodBeat.posted(h, task, 7);
        AppMethodBeat.posted(h, task, 8);
        assertEquals(0, printed(h, task, 0).postedBy, "either may be the first: one may be delayed");
        assertEquals(0, printed(h, task, 0).postedBy, "it is the other one, whichever that is");
        AppMethodBeat.posted(h, task, 9);
        assertEquals(9, printed(h, task, 0).postedBy, "both have run");
    }

    @Test
    void oneMethodTwice() {
        Handler h = new Handler();
        Task task = new Task();
        AppMethodBeat.posted(h, task, 7);
        AppMethodBeat.posted(h, task, 7);
        for (int k = 0; k < 2; k++) {
            MessageRecord m = printed(h, task, 0);
            assertEquals(7, m.postedBy);
            assertEquals(0, m.postedNanos, "the time of which post is not certain");
        }
        for (int k = 0; k < 100; k++) { // posts that were removed from the queue
            AppMethodBeat.posted(h, task, 7);
        }
        assertEquals(7, printed(h, task, 0).postedBy);
        AppMethodBeat.posted(h, task, 8);
        assertEquals(0, printed(h, task, 0).postedBy);
    }

    @Test
    void executors() {
        Handler h = new Handler();
        Task task = new Task();
        AppMethodBeat.posted(new Pool(), task, 7);
        assertEquals(7, printed(h, task, 0).postedBy);
        // An executor of the app, which posts to a Handler: that is what posted the message.
        AppMethodBeat.posted(new Pool(), task, 7);
        AppMethodBeat.posted(h, task, 8);
        assertEquals(8, printed(h, task, 0).postedBy);
        assertEquals(0, printed(h, task, 0).postedBy);
        AppMethodBeat.posted(task, task, 9); // a dispatcher of coroutines
        assertEquals(9, printed(h, task, 0).postedBy);
        AppMethodBeat.posted("a bus", task, 10);
        assertEquals(0, printed(h, task, 0).postedBy);
        AppMethodBeat.posted("a bus", 3, 10);
        assertEquals(0, printed("a bus", null, 3).postedBy);
    }

    @Test
    void textsThatSayTooLittle() {
        Handler own = new Handler() {
            @Override
            public String toString() {
                return "my handler";
            }
        };
        Task named = new Task() {
            @Override
            public String toString() {
                return "Work[at 12@ab]";
            }
        };
        AppMethodBeat.posted(own, 3, 7);
        AppMethodBeat.posted(own, named, 7);
        assertEquals(0, printed(own, null, 3).postedBy);
        assertEquals(0, printed(own, named, 0).postedBy);
        Task task = new Task();
        AppMethodBeat.posted(own, task, 7);
        assertEquals(7, printed(own, task, 0).postedBy);
        for (String text : new String[] {"", ": ", ">>>>> Dispatching to ", ">>>>> Dispatching to : 0",
            ">>>>> Dispatching to Handler (x) {1} null: x", "IdleHandler a.B", ">>>>> Dispatching to @: 0",
            ">>>>> Dispatching to Handler () {} null: 99999999999", ">>>>> Dispatching to x @fffffffff: 0"}) {
            main.messageBegin(text);
            PostedBy.began(main, text);
            main.messageEnd();
        }
    }

    @Test
    void invalidCallsAreIgnored() {
        Handler h = new Handler();
        Task task = new Task();
        AppMethodBeat.posted(null, task, 7);
        AppMethodBeat.posted(h, null, 7);
        AppMethodBeat.posted(null, 3, 7);
        AppMethodBeat.posted(h, task, 0);
        AppMethodBeat.posted(h, task, AppMethodBeat.METHOD_ID_DISPATCH);
        AppMethodBeat.posted(h, new Object(), 7);
        assertEquals(0, printed(h, task, 0).postedBy);
        PostedBy.end();
        AppMethodBeat.posted(h, task, 7);
        assertEquals(0, printed(h, task, 0).postedBy);
    }

    @Test
    void nothingIsKeptAlive() throws Exception {
        Handler h = new Handler();
        WeakReference<Object> gone = postAndForget(h);
        Await.until("the task is collected", () -> {
            Await.collect();
            return gone.get() == null;
        });
    }

    private static WeakReference<Object> postAndForget(Handler h) {
        Task task = new Task();
        AppMethodBeat.posted(h, task, 7);
        return new WeakReference<Object>(task);
    }

    @Test
    void tooManyAtOnce() {
        Handler h = new Handler();
        List<Task> tasks = new ArrayList<Task>();
        for (int k = 0; k < 5000; k++) {
            tasks.add(new Task());
            AppMethodBeat.posted(h, tasks.get(k), 7);
        }
        int named = 0;
        for (Task task : tasks) {
            int id = printed(h, task, 0).postedBy;
            assertTrue(id == 0 || id == 7);
            named += id == 7 ? 1 : 0;
        }
        assertEquals(4096, named);
        // A post of one that was lost may still wait when the next one is seen.
        AppMethodBeat.posted(h, tasks.get(4999), 8);
        assertEquals(0, printed(h, tasks.get(4999), 0).postedBy);
    }
}
