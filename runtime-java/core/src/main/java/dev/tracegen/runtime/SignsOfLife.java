package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Writes that the process lives, and which messages and outermost calls are open. If the process is killed, a reader
 * knows from them until when an open call lasted at least. Used by the sampler only.
 */
final class SignsOfLife {
    // How often a sign of life is written for an open call: after a share of the time that it has taken, within these
    // bounds. If the process is killed, the end of the call is known to 5 % or 100 ms. The rest up to that is for the
    // checks, which may come late.
    private static final int SIGN_SHARE = 25;
    private static final long MIN_SIGN_NANOS = 80000000L;
    private static final long MAX_SIGN_NANOS = 5000000000L;

    /** The records of a running message are handed over when they fill one part in so many of the ring. */
    private static final int FULL_SHARE = 4;

    private final RecorderOptions options;
    private final WriterQueue out;
    private List<OpenCall> alive = new ArrayList<OpenCall>();

    // When the current check began. A call whose exit the check does not find was open then.
    private long checkNanos;
    private long checkWallMillis;

    SignsOfLife(RecorderOptions options, WriterQueue out) {
        this.options = options;
        this.out = out;
    }

    /** Sets when the current check began. */
    void check(long nanos, long wallMillis) {
        checkNanos = nanos;
        checkWallMillis = wallMillis;
    }

    /**
     * Adds a sign of life of an open call that is slow, if the next one is due.
     *
     * @param age for how long the call has taken, or for how long its thread has put no record
     * @param next the number of the thread's next record
     * @param calls whether the thread has put records since the last check
     */
    void of(ThreadTrace t, StallFacts f, long since, long age, long next, boolean calls) {
        long interval = Math.max(MIN_SIGN_NANOS, Math.min(MAX_SIGN_NANOS, age / SIGN_SHARE));
        // The last records before a hang in one method must not wait until the next sign is due: the process may be
        // killed before that.
        boolean stuck = !options.everyRecord && !calls && next > f.signedRecord;
        // Neither must a ring that is soon full: it overwrites the oldest records.
        Ring ring = t.existingRing();
        boolean full = !options.everyRecord && ring != null && next - f.handedOver >= ring.length() / FULL_SHARE;
        interval = full ? 0 : stuck ? MIN_SIGN_NANOS : interval;
        // At the next check it would be too late.
        if (f.passed && (f.lastSign == 0 || checkNanos - f.lastSign >= interval - Sampler.pollNanos(options, 0))) {
            f.lastSign = checkNanos;
            f.signedRecord = next;
            writeOpenRecords(t, f, since);
            add(t, f.number, since, t.thread.getState());
        }
    }

    private void add(ThreadTrace t, long number, long since, Thread.State state) {
        alive.add(new OpenCall(t, number, t.sampled.openKind(), t.sampled.openText(), since, state,
                options.platform.threadCpuNanos(t.thread)));
    }

    /** Hands over the signs of this check. */
    void write() {
        if (!alive.isEmpty()) {
            List<OpenCall> open = alive;
            alive = new ArrayList<OpenCall>();
            out.alive(checkNanos, checkWallMillis, open);
        }
    }

    /** Hands over the new records of a message that is still running, if records are written only of stalls. */
    private void writeOpenRecords(ThreadTrace t, StallFacts f, long since) {
        if (options.everyRecord || !out.writes() || t.existingRing() == null) {
            return;
        }
        long first = t.firstRecord();
        RecordCopy copy = t.copyWithMarks(Math.max(first, f.handedOver), Long.MAX_VALUE);
        if (t.messageNumber() != f.number || t.runningSince() != since) {
            // It has ended meanwhile, and the copy may have records of the next message.
            return;
        }
        // Also without new records: if a file was begun meanwhile, it needs those from before.
        if (out.openRecords(t, f, first, copy)) {
            f.handedOver = copy.firstSequence + copy.records.length;
        }
    }

    /** Writes what is open when the recording ends, whether it has passed the threshold or not. */
    void last(Iterable<ThreadTrace> threads) {
        for (ThreadTrace t : threads) {
            long since = t.sampled.openSince();
            StallFacts f = t.sampled.factsOf(t.sampled.openNumber());
            if (since != 0) {
                if (f != null && f.passed) {
                    writeOpenRecords(t, f, since);
                }
                // Its state is unknown: it is one of after the end, where a thread that has called System.exit waits.
                add(t, t.sampled.openNumber(), since, null);
            }
        }
        // Also without open calls: it says when recording ended.
        out.alive(checkNanos, checkWallMillis, alive);
        alive = new ArrayList<OpenCall>();
    }

    /** Adds to all the outermost call that is open on a thread, as of the last check. */
    void addOpen(ThreadTrace t, List<MessageRecord> all) {
        CallMessages.OfThread outermost = t.sampled.outermost;
        if (outermost != null && outermost.since() != 0) {
            all.add(outermost.running(checkNanos));
        }
    }
}
