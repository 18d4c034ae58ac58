package dev.tracegen.runtime;

import android.app.Activity;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * A runtime for tests: it checks, thread by thread and while the program runs, that exits match entries.
 *
 * <p>When the JVM ends it writes a JSON summary to the file that the system property {@code
 * tracegen.recorder.out} names. With {@code tracegen.recorder.events} it also writes every event
 * (the first million of each thread): one line a thread, its name, a tab, then {@code +id} and
 * {@code -id} separated by blanks.
 *
 * <p>An exit that is not for the innermost open frame closes the nearest open frame of its ID, and the frames above
 * count as closed late: that is the result of an exception in the modes {@code normal} and {@code throws}. An exit
 * without an open frame of its ID is one too many, which is wrong in every mode.
 *
 * <p>It calls into java.base on every event, so java.base itself cannot be instrumented with it.
 */
public final class AppMethodBeat {
    private static final int MAX_ID = 0xFFFFE;
    private static final int KEPT_EVENTS = 1000000;
    private static final int SWEEP_AT = 256;

    private static final boolean KEEP = System.getProperty("tracegen.recorder.events") != null;

    /** Written without a lock: every writer writes the same value. */
    private static final byte[] SEEN = new byte[MAX_ID + 1];

    private static final List<Frames> LIVE = new ArrayList<Frames>();
    private static final Totals GONE = new Totals();
    private static int sweepAt = SWEEP_AT;

    private static final ThreadLocal<Frames> FRAMES = new ThreadLocal<Frames>() {
        @Override
        protected Frames initialValue() {
            return register(new Frames(Thread.currentThread()));
        }
    };

    static {
        Runtime.getRuntime().addShutdownHook(new Thread("tracegen-recorder") {
            @Override
            public void run() {
                finish();
            }
        });
    }

    private AppMethodBeat() {
    }

    /** A method was entered. */
    public static void i(int id) {
        FRAMES.get().enter(id);
    }

    /** A method is about to be left. */
    public static void o(int id) {
        FRAMES.get().leave(id);
    }

    /** A suspend function is about to be left. */
    public static void o(Object result, int id) {
        FRAMES.get().leave(id);
    }

    /** A continuation of the innermost call was made. */
    public static void continues(Object continuation, int id) {
    }

    /** A suspend lambda was made. */
    public static void starts(Object continuation, int id) {
    }

    /** A continuation is resumed. */
    public static void resumes(Object continuation, int id) {
    }

    /** A window's focus changed. */
    public static void at(Activity activity, boolean hasFocus) {
        FRAMES.get().sums.focusCalls++;
    }

    /** Sums over threads. */
    private static final class Totals {
        long threads;
        long entries;
        long exits;
        long exitsTooMany;
        long closedLate;
        long openInEndedThreads;
        long openInLiveThreads;
        long badIds;
        long focusCalls;
        int maxDepth;

        void add(Totals t) {
            threads += t.threads;
            entries += t.entries;
            exits += t.exits;
            exitsTooMany += t.exitsTooMany;
            closedLate += t.closedLate;
            openInEndedThreads += t.openInEndedThreads;
            openInLiveThreads += t.openInLiveThreads;
            badIds += t.badIds;
            focusCalls += t.focusCalls;
            maxDepth = Math.max(maxDepth, t.maxDepth);
        }
    }

    /** The open frames of one thread, used by that thread only until it or the JVM ends. */
    private static final class Frames {
        final Thread thread;
        final Totals sums = new Totals();
        int[] open = new int[64];
        int depth;
        int[] events = new int[KEEP ? 64 : 0];
        int eventCount;

        Frames(Thread thread) {
            this.thread = thread;
            sums.threads = 1;
        }

        void enter(int id) {
            sums.entries++;
            see(id);
            if (depth == open.length) {
                open = Arrays.copyOf(open, 2 * depth);
            }
            open[depth++] = id;
            if (depth > sums.maxDepth) {
                sums.maxDepth = depth;
            }
            if (KEEP) {
                keep(id);
            }
        }

        void leave(int id) {
            sums.exits++;
            see(id);
            if (KEEP) {
                keep(-id);
            }
            int at = depth - 1;
            while (at >= 0 && open[at] != id) {
                at--;
            }
            if (at < 0) {
                sums.exitsTooMany++;
                return;
            }
            sums.closedLate += depth - 1 - at;
            depth = at;
        }

        private void see(int id) {
            if (id < 1 || id > MAX_ID) {
                sums.badIds++;
            } else if (SEEN[id] == 0) {
                SEEN[id] = 1;
            }
        }

        private void keep(int event) {
            if (eventCount == KEPT_EVENTS) {
                return;
            }
            if (eventCount == events.length) {
                events = Arrays.copyOf(events, 2 * eventCount);
            }
            events[eventCount++] = event;
        }

        Totals total() {
            boolean ended = thread.getState() == Thread.State.TERMINATED;
            Totals t = new Totals();
            t.add(sums);
            t.openInEndedThreads = ended ? depth : 0;
            t.openInLiveThreads = ended ? 0 : depth;
            return t;
        }
    }

    /** Keeps the list short in programs that start threads by the thousand. */
    private static synchronized Frames register(Frames f) {
        if (LIVE.size() >= sweepAt && !KEEP) {
            for (Iterator<Frames> it = LIVE.iterator(); it.hasNext(); ) {
                Frames old = it.next();
                if (old.thread.getState() == Thread.State.TERMINATED) {
                    GONE.add(old.total());
                    it.remove();
                }
            }
            sweepAt = 2 * LIVE.size() + SWEEP_AT;
        }
        LIVE.add(f);
        return f;
    }

    private static synchronized void finish() {
        Totals all = new Totals();
        all.add(GONE);
        for (Frames f : LIVE) {
            all.add(f.total());
        }
        try {
            String out = System.getProperty("tracegen.recorder.out");
            if (out != null) {
                Files.write(Paths.get(out), json(all).getBytes(StandardCharsets.UTF_8));
            }
            String events = System.getProperty("tracegen.recorder.events");
            if (events != null) {
                writeEvents(events);
            }
        } catch (IOException e) {
            System.err.println("tracegen recorder: " + e);
        }
    }

    private static String json(Totals t) {
        int distinct = 0;
        for (byte b : SEEN) {
            distinct += b;
        }
        return "{\"threads\":" + t.threads
                + ",\"entries\":" + t.entries
                + ",\"exits\":" + t.exits
                + ",\"distinctMethods\":" + distinct
                + ",\"exitsTooMany\":" + t.exitsTooMany
                + ",\"closedLate\":" + t.closedLate
                + ",\"openInEndedThreads\":" + t.openInEndedThreads
                + ",\"openInLiveThreads\":" + t.openInLiveThreads
                + ",\"badIds\":" + t.badIds
                + ",\"focusCalls\":" + t.focusCalls
                + ",\"maxDepth\":" + t.maxDepth + "}\n";
    }

    private static void writeEvents(String file) throws IOException {
        try (Writer w = new BufferedWriter(
                Files.newBufferedWriter(Paths.get(file), StandardCharsets.UTF_8))) {
            for (Frames f : LIVE) {
                w.write(f.thread.getName().replace('\t', ' ').replace('\n', ' '));
                for (int k = 0; k < f.eventCount; k++) {
                    w.write(k == 0 ? '\t' : ' ');
                    w.write(f.events[k] > 0 ? "+" : "-");
                    w.write(Integer.toString(Math.abs(f.events[k])));
                }
                w.write('\n');
            }
        }
    }
}
