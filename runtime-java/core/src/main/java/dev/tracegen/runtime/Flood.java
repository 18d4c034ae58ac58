package dev.tracegen.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds on the recorded threads themselves which methods flood the recorder, and switches them off. {@link Gate} does
 * so by the records that the sampler has copied. But where hundreds of threads run, the sampler gets a hundredth of a
 * processor, and the program may be over before it has seen the flood.
 *
 * <p>The threads count their records together, once a segment. While there are too many, each notes which methods it
 * calls, and how long so many calls take. A method is switched off if its calls took less on average than those that
 * {@link Gate} switches off first. So this decides no other way, only earlier, and leaves what is not that clear to the
 * sampler. The request is as one of the sampler, which takes it over.
 *
 * <p>All methods are called by the owner of a ring, between two records, and never throw.
 */
final class Flood {
    /** After how many records it is looked at how long they took: twice what is too much for the time of a decision. */
    static final long LOOK_RECORDS = 2 * Gate.TOO_MANY * (Gate.DECISION_NANOS / 1000000L) / 1000;

    /** How many calls a thread notes. */
    static final int CALLS = 256;

    /** While a window is open, records are counted after so many. */
    private static final int WINDOW_RECORDS = 1024;

    private static final long SECOND = 1000000000L;

    private final Recorder recorder;
    private final AtomicLong made = new AtomicLong();

    /** When the last look was. */
    private volatile long lookedNanos;

    /** How many records came in a second by the last look; 0 if that was not too much. */
    private volatile long perSecond;

    /** What a thread notes. */
    static final class Noted {
        /** Since when calls are noted; 0 if they are not. */
        private long begin;

        /** How many there were since then, and the methods of the first ones. */
        private long calls;
        private final int[] ids = new int[CALLS];
        private int size;

        /** How many records were added to a window and are not counted yet. */
        private int inWindow;

        void begin(long nanos) {
            begin = nanos;
            calls = 0;
            size = 0;
        }

        void add(long record) {
            if (record < 0) {
                calls++;
                if (size < CALLS) {
                    ids[size++] = (int) (record >>> Ring.ID_SHIFT) & 0xFFFFF;
                }
            }
        }
    }

    Flood(Recorder recorder) {
        this.recorder = recorder;
        this.lookedNanos = recorder.platform().nanoTime();
    }

    /** Looks at the last records of a ring, so many. To be called when they were put since the last call of this. */
    void put(Ring ring, int records) {
        try {
            count(ring, records);
            if (mayNote(ring)) {
                long end = ring.sequence();
                for (long n = Math.max(end - records, ring.oldest()); n < end; n++) {
                    ring.noted.add(ring.slots[(int) n & ring.length() - 1] - Ring.FULL);
                }
                decide(ring.noted);
            }
        } catch (Throwable e) {
            // No stack or memory is left. The sampler decides.
        }
    }

    /** Looks at a record that was added to the window of a ring. */
    void leftOut(Ring ring, long record) {
        try {
            if (mayNote(ring)) {
                ring.noted.add(record);
                decide(ring.noted);
            }
            if (ring.noted == null) {
                ring.noted = new Noted();
            }
            if (++ring.noted.inWindow == WINDOW_RECORDS) {
                ring.noted.inWindow = 0;
                count(ring, WINDOW_RECORDS);
            }
        } catch (Throwable e) {
            // As in put.
        }
    }

    private void count(Ring ring, int records) {
        if (made.addAndGet(records + Marks.uncounted(ring.trace)) < LOOK_RECORDS) {
            return;
        }
        long all = made.getAndSet(0);
        if (all < LOOK_RECORDS) {
            // Another thread looks.
            made.addAndGet(all);
            return;
        }
        long now = recorder.platform().nanoTime();
        long elapsed = now - lookedNanos;
        lookedNanos = now;
        long rate = elapsed <= 0 ? 0 : (long) ((double) all * SECOND / elapsed);
        perSecond = rate > Gate.TOO_MANY ? rate : 0;
    }

    /** Reports whether the calls of a thread are noted, and begins to if they are to be. */
    private boolean mayNote(Ring ring) {
        Noted noted = ring.noted;
        if (perSecond == 0) {
            if (noted != null) {
                noted.begin = 0;
            }
            return false;
        }
        if (noted == null) {
            noted = new Noted();
            ring.noted = noted;
        }
        if (noted.begin == 0) {
            noted.begin(recorder.platform().nanoTime());
            return false;
        }
        return true;
    }

    /** Switches off the methods that were noted most, as long as there are too many records without that. */
    private void decide(Noted noted) {
        if (noted.size < CALLS) {
            return;
        }
        long now = recorder.platform().nanoTime();
        long elapsed = now - noted.begin;
        int[] off = elapsed > 0 ? methods(noted, elapsed) : new int[0];
        noted.begin(now);
        if (off.length > 0) {
            perSecond = 0;
            made.set(0);
            lookedNanos = now;
            Gate.Request last = recorder.fastPath.gateRequest();
            // If another thread was faster, this one notes again what is recorded then.
            recorder.fastPath.request(last, Gate.Request.off(last, off));
        }
    }

    private int[] methods(Noted noted, long elapsed) {
        int[] ids = noted.ids;
        Arrays.sort(ids);
        int[] off = new int[CALLS];
        int n = 0;
        long all = perSecond;
        for (long rest = all; rest > Gate.ENOUGH; n++) {
            int most = 0;
            int calls = 0;
            for (int k = 0; k < CALLS;) {
                int begin = k;
                while (k < CALLS && ids[k] == ids[begin]) {
                    k++;
                }
                boolean used = ids[begin] < 1 || ids[begin] >= AppMethodBeat.METHOD_ID_DISPATCH;
                for (int u = 0; u < n; u++) {
                    used |= off[u] == ids[begin];
                }
                if (!used && k - begin > calls) {
                    most = ids[begin];
                    calls = k - begin;
                }
            }
            // Of each noted call there were so many.
            if (calls == 0 || elapsed * CALLS / (calls * noted.calls) >= Gate.SHORT_CALLS[0]) {
                break;
            }
            off[n] = most;
            rest -= all * calls / CALLS;
        }
        return Arrays.copyOf(off, n);
    }
}
