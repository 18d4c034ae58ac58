package dev.tracegen.runtime;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Collections;

/**
 * Writes recordings to disks on which every k-th operation fails, for all k. {@link FullDiskTest} and a test of the Go
 * reader check them. It uses Java 8 and no other class of the tests, because the Go test compiles it alone.
 */
final class DiskScenario {
    /** More than the scenario has operations of one kind, so that with the last k none fails. */
    static final int MAX_K = 160;

    /** What fails beside the writes. */
    enum Fault {
        /** Every k-th write fails after half of its bytes, for lack of space. */
        WRITE,
        /** As above, and the half chunk cannot be cut off. */
        WRITE_AND_CUT,
        /** Every k-th file cannot be created. */
        CREATE
    }

    /** A disk on which every k-th operation fails. */
    static final class FailingDisk extends Disk {
        private final int k;
        private final Fault fault;
        int writes;
        private int creates;

        FailingDisk(int k, Fault fault) {
            this.k = k;
            this.fault = fault;
        }

        @Override
        boolean create(File file) throws IOException {
            if (fault == Fault.CREATE && ++creates % k == 0) {
                throw new IOException("No space left on device");
            }
            return super.create(file);
        }

        @Override
        void write(FileOutputStream stream, byte[] bytes, int size) throws IOException {
            if (fault != Fault.CREATE && ++writes % k == 0) {
                super.write(stream, bytes, size / 2);
                throw new IOException("No space left on device");
            }
            super.write(stream, bytes, size);
        }

        @Override
        void truncate(FileOutputStream stream, long size) throws IOException {
            // The first bytes of a file can always be cut off. What remains of them otherwise is no recording.
            if (fault == Fault.WRITE_AND_CUT && size > 0) {
                throw new IOException("Input/output error");
            }
            super.truncate(stream, size);
        }
    }

    /** A platform whose time passes only when the test says so. */
    static final class Clock extends Platform {
        volatile long nanos = 5000000000L;
        final StringBuilder logged = new StringBuilder();
        private final Thread main = Thread.currentThread();

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public Thread mainThread() {
            return main;
        }

        @Override
        public synchronized void log(String line) {
            logged.append(line).append('\n');
        }
    }

    private DiskScenario() {
    }

    /**
     * Writes one recording of several parts. Each step uses names, threads and switched methods of earlier steps and
     * new ones. Between two steps, more time passes than an attempt to write again may be away.
     */
    static void write(Recorder recorder, Clock clock, File output, Disk disk) throws IOException {
        RecorderOptions o = new RecorderOptions().platform(clock).output(output).limit(1, 50).everyRecord(true);
        RecordingWriter w = new RecordingWriter(o, clock.nanos, 7, disk);
        w.open();
        ThreadTrace[] threads = new ThreadTrace[6];
        java.util.Random random = new java.util.Random(3);
        long[] next = new long[threads.length];
        for (int step = 0; step < 24; step++) {
            clock.nanos += 61000000000L;
            int t = step % threads.length;
            if (threads[t] == null) {
                threads[t] = new ThreadTrace(recorder, new Thread("thread " + t), 1 + t, false, true);
            }
            ThreadTrace trace = threads[t];
            w.calls.gate(trace, new Gate.Change(null, clock.nanos, next[t],
                    new int[] {100 + step, step < threads.length ? 200 : -(100 + step - threads.length)}));
            long[] records = new long[1000 + random.nextInt(1000)];
            for (int k = 0; k < records.length; k++) {
                // Each is an entry of a method of its own, so that the file gets full soon.
                records[k] = Ring.ENTRY | (long) (1 + random.nextInt(1 << 19)) << Ring.ID_SHIFT
                        | (long) step * 100000 + k * 10;
            }
            w.calls.records(trace, new RecordCopy(next[t], records, 0));
            next[t] += records.length;
            MessageRecord m = new MessageRecord(MessageRecord.NORMAL, step, 1, clock.nanos, 1000, -1,
                    text("Handler" + step % 9, step / 2), next[t] - 5, next[t]);
            w.messages.ran(trace, Collections.singletonList(m));
            StackTraceElement[] stack = new Throwable().getStackTrace();
            w.messages.sample(new StackSample(trace, clock.nanos, Thread.State.RUNNABLE, stack, -1, null, threads[0]));
            OpenCall open = new OpenCall(trace, step, MessageRecord.NORMAL, text("Open" + step, 1),
                    clock.nanos - 1000000000L, Thread.State.BLOCKED, -1);
            w.messages.alive(clock.nanos, 0, Collections.singletonList(open));
        }
        clock.nanos += 61000000000L;
        w.close();
    }

    /** Returns what a Looper prints when it dispatches a message to a handler. Other texts are not recorded. */
    private static String text(String handler, int what) {
        return ">>>>> Dispatching to Handler (com.example." + handler + ") {1} null: " + what;
    }

    /** Writes the recordings of all faults and k below a directory: {@code FAULT-K/r.tgd} and its parts. */
    public static void main(String[] args) throws IOException {
        Clock clock = new Clock();
        Recorder recorder = Recorder.start(new RecorderOptions().platform(clock).ringRecords(1024));
        for (Fault fault : Fault.values()) {
            for (int k = 1; k <= MAX_K; k += k < 20 ? 1 : 7) {
                File dir = new File(args[0], fault + "-" + k);
                if (!dir.mkdir()) {
                    throw new IOException("cannot create " + dir);
                }
                write(recorder, clock, new File(dir, "r.tgd"), new FailingDisk(k, fault));
            }
        }
        recorder.stop();
    }
}
