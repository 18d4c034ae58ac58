import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.util.Printer;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.Dispatch;
import dev.tracegen.runtime.android.DispatchListener;
import dev.tracegen.runtime.android.LooperMonitor;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a monitor reports of messages, on the real looper. */
public final class MonitorProofs {
    /** Keeps what is reported to it. */
    static final class Log extends DispatchListener {
        private static final Pattern TEXT = Pattern.compile(
                ">>>>> Dispatching to Handler [(](.*?)[)] [{].*?[}] (.*?)(?:@[0-9a-f]+)?: (-?[0-9]+)");

        final List<String> lines = Collections.synchronizedList(new ArrayList<String>());
        volatile long beginNanos;
        volatile long endNanos;

        @Override
        public void dispatchStart(Dispatch d) {
            lines.add("+");
        }

        @Override
        public void dispatchEnd(Dispatch d) {
            beginNanos = d.beginNanos();
            endNanos = d.endNanos();
            lines.add("-" + names(d.text()));
        }

        /** Returns handler, callback without its hash code, and what of a text of the Looper. */
        private static String names(String text) {
            Matcher m = TEXT.matcher(text);
            return m.matches() ? m.group(1) + " " + m.group(2) + " " + m.group(3) : text;
        }

        /** Waits for so many starts and ends. No message is sent for that. */
        void await(final int n) throws Exception {
            Bench.until(n + " starts and ends", new Bench.Condition() {
                @Override
                public boolean holds() {
                    return lines.size() >= n;
                }
            });
        }

        int count(String line) {
            return Collections.frequency(lines, line);
        }
    }

    static RecorderOptions options() {
        return new RecorderOptions().set("check", "0").set("idle-handlers", "false");
    }

    static final class MyHandler extends Handler {
        volatile Runnable work;
        volatile long begin;
        volatile long end;

        MyHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message m) {
            begin = System.nanoTime();
            if (work != null) {
                work.run();
            }
            end = System.nanoTime();
        }
    }

    static final class MyCallback implements Runnable {
        @Override
        public void run() {
        }
    }

    public void everyMessageIsToldOnceAndByName() throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Log log = new Log();
        monitor.add(log);
        monitor.add(log);
        Handler handler = new MyHandler(Looper.getMainLooper());
        for (int k = 0; k < 100; k++) {
            handler.sendEmptyMessage(7);
            handler.post(new MyCallback());
        }
        Bench.drain();
        monitor.release();
        String h = MyHandler.class.getName();
        Bench.equal(log.count("-" + h + " null 7"), 100, monitor.source() + ": messages");
        Bench.equal(log.count("-" + h + " " + MyCallback.class.getName() + " 0"), 100, monitor.source()
                + ": callbacks");
        // Those two hundred, and those that drain sends: a monitor posts nothing itself.
        Bench.equal(log.lines.size(), 2 * 201, monitor.source() + ": starts and ends");
        for (int k = 0; k < log.lines.size(); k += 2) {
            Bench.equal(log.lines.get(k), "+", "line " + k);
        }
    }

    public void aMessageOfOneSecondIsMeasured() throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Log log = new Log();
        monitor.add(log);
        MyHandler handler = new MyHandler(Looper.getMainLooper());
        handler.work = new Runnable() {
            @Override
            public void run() {
                try {
                    Thread.sleep(1000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        handler.sendEmptyMessage(1);
        log.await(2);
        monitor.release();
        Bench.check(log.beginNanos <= handler.begin && log.endNanos >= handler.end,
                "the message is longer than its work");
        long off = log.endNanos - log.beginNanos - (handler.end - handler.begin);
        Bench.measured("a message of 1 s, by " + monitor.source() + ": " + off / 1000 + " us longer than its work");
    }

    public void fault13ListenersMayThrowComeAndGo() throws Exception {
        final LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        final Log before = new Log();
        final Log added = new Log();
        Log after = new Log();
        monitor.add(before);
        monitor.add(new DispatchListener() {
            @Override
            public void dispatchStart(Dispatch d) {
                monitor.remove(before);
                monitor.add(added);
                throw new IllegalStateException("in a start, as planned");
            }

            @Override
            public void dispatchEnd(Dispatch d) {
                monitor.remove(added);
                monitor.add(before);
                throw new StackOverflowError("in an end, as planned");
            }
        });
        monitor.add(after);
        for (int k = 0; k < 50; k++) {
            Bench.main.sendEmptyMessage(3);
        }
        Bench.drain();
        monitor.release();
        Bench.equal(after.lines.size(), 2 * 51, monitor.source() + ": told to the one behind");
        Bench.equal(before.count("+"), 51, monitor.source() + ": starts told to the one that goes");
        Bench.equal(added.lines.size(), 0, monitor.source() + ": told to the one that came after the start");
    }

    public void fault13OthersMayPrintAnything() throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        final Log log = new Log();
        monitor.add(log);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    Printer p = Bench.printer();
                    String[] odd = {null, "", " ", "hello", "<", "<", ">", ">>>>> Dispatching to ",
                            ">>>>> Dispatching to x", ">>>>> Dispatching to } : "};
                    for (String line : odd) {
                        p.println(line);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Bench.main.sendEmptyMessage(9);
        Bench.drain();
        monitor.release();
        Bench.equal(log.count("-" + Handler.class.getName() + " null 9"), 1, "the message after it");
        Bench.equal(log.count("+") * 2, log.lines.size(), "starts have ends");
    }

    /** Returns a handler of the main looper whose messages throw. */
    private static MyHandler throwing() {
        MyHandler handler = new MyHandler(Looper.getMainLooper());
        handler.work = new Runnable() {
            @Override
            public void run() {
                throw new Bench.Thrown();
            }
        };
        return handler;
    }

    public void aMessageThatThrowsEndsWithTheNext() throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Log log = new Log();
        monitor.add(log);
        MyHandler handler = throwing();
        for (int k = 0; k < 3; k++) {
            handler.sendEmptyMessage(5);
        }
        Bench.drain();
        monitor.release();
        Bench.equal(log.count("-" + MyHandler.class.getName() + " null 5"), 3, monitor.source() + ": ends");
        Bench.equal(log.lines.size(), 2 * 4, monitor.source() + ": starts and ends");
    }

    public void aMessageThatThrowsEndsWhenTheQueueIsIdle() throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Log log = new Log();
        monitor.add(log);
        MyHandler handler = throwing();
        handler.sendEmptyMessage(5);
        // The loop of Bench has caught it. No message follows that could end it.
        log.await(2);
        Bench.equal(log.lines.get(1), "-" + MyHandler.class.getName() + " null 5", monitor.source() + ": the end");
        monitor.release();
    }

    public void handlerThreadsAreWatchedAndReleasedWithTheirLoopers() throws Exception {
        int n = 4;
        Log[] logs = new Log[n];
        HandlerThread[] threads = new HandlerThread[n];
        List<WeakReference<Object>> gone = new ArrayList<WeakReference<Object>>();
        for (int k = 0; k < n; k++) {
            logs[k] = new Log();
            threads[k] = new HandlerThread("watched-" + k);
            threads[k].start();
            LooperMonitor monitor = LooperMonitor.of(threads[k].getLooper(),
                    new RecorderOptions().set("check", "0"));
            monitor.add(logs[k]);
            gone.add(new WeakReference<Object>(monitor));
            gone.add(new WeakReference<Object>(threads[k].getLooper()));
            Bench.check(LooperMonitor.of(threads[k].getLooper()) == monitor, "another monitor of the same looper");
        }
        for (int k = 0; k < n; k++) {
            Handler handler = new MyHandler(threads[k].getLooper());
            for (int j = 0; j <= k; j++) {
                handler.sendEmptyMessage(20 + k);
            }
        }
        for (int k = 0; k < n; k++) {
            Bench.drain(new Handler(threads[k].getLooper()));
            threads[k].quit();
            threads[k].join();
            Bench.equal(logs[k].count("-" + MyHandler.class.getName() + " null " + (20 + k)), k + 1, "thread " + k);
            for (int j = 0; j < n; j++) {
                Bench.equal(logs[k].count("-" + MyHandler.class.getName() + " null " + (20 + j)),
                        j == k ? k + 1 : 0, "thread " + k + " of " + j);
            }
            threads[k] = null;
        }
        // Neither the main looper's thread local nor any other object must keep it.
        for (WeakReference<Object> ref : gone) {
            Bench.check(Bench.collected(ref), "still there: " + ref.get());
        }
    }
}
