package dev.tracegen.runtime;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** A platform whose clock is set by the test. */
final class VirtualPlatform extends Platform {
    final AtomicLong nanos = new AtomicLong(5000000000L);
    final AtomicLong cpu = new AtomicLong();
    final AtomicLong cpuReads = new AtomicLong();

    /** The CPU time of each thread for others, -1 for unknown. */
    volatile long cpuOfOthers = -1;
    final Thread main;
    volatile long gcCount = 3;
    volatile boolean broken;

    /** Thrown by most methods if it is not null; how often it was. */
    volatile Error error;
    final AtomicLong errors = new AtomicLong();
    volatile LockWait lock;
    volatile Thread waitsForLock;
    volatile long millisPerWallClock;

    /** How much time passes as soon as recording has been stopped. */
    volatile long millisAtTheEnd;

    /** The CPU time of the process, -1 for unknown. */
    final AtomicLong processCpu = new AtomicLong(-1);
    volatile boolean debugger;

    /** For how long each thread had no processor, -1 for unknown. */
    final AtomicLong processorWait = new AtomicLong(-1);

    /** Whether anything is known of the machine, how often it was read, and the CPU time of the process in ticks. */
    volatile boolean machine;
    final AtomicLong machineReads = new AtomicLong();
    final AtomicLong machineTicks = new AtomicLong();

    /** If it is not null, the thread of the writer stands still before it writes the times of the clocks. */
    volatile CountDownLatch writerGate;

    /** If it is not null, the writer fails there. */
    volatile RuntimeException writerFailure;
    volatile String logged = "";

    /** If it is not null, the sampler runs it at the end of each check, and once before the first. */
    volatile Runnable checked;

    // How often the recorder's threads have called this platform.
    private final AtomicLong checks = new AtomicLong();
    private final AtomicLong clockReads = new AtomicLong();

    VirtualPlatform() {
        main = Thread.currentThread();
    }

    void pass(long millis) {
        nanos.addAndGet(millis * 1000000L);
    }

    private static boolean on(String thread) {
        return Thread.currentThread().getName().equals(thread);
    }

    /**
     * Returns when the recorder's thread has checked all threads once more, from the begin to the end of a check. No
     * stall may end meanwhile.
     */
    void awaitCheck() throws Exception {
        // The first one may have begun before this call. Each reads the counters of the garbage collector once.
        long enough = checks.get() + 2;
        Await.until("the recorder has checked all threads", () -> checks.get() >= enough);
    }

    /** Returns when the recorder's thread has checked all threads for the first time. It may sleep from then on. */
    void awaitFirstCheck() throws Exception {
        // It reads the counters before the check, too.
        Await.until("the recorder has checked all threads once", () -> checks.get() >= 2);
    }

    /** Returns when the next check has begun or ended: after any number of calls there were as many checks. */
    void awaitNextCheck() throws Exception {
        long enough = checks.get() + 1;
        Await.until("the recorder has checked all threads", () -> checks.get() >= enough);
    }

    /** Returns when the thread of the clock has read the time for the first time. */
    void awaitClock() throws Exception {
        Await.until("the clock has begun", () -> clockReads.get() > 0);
    }

    @Override
    public long nanoTime() {
        if (broken) {
            throw new IllegalStateException("no clock");
        }
        fail();
        long now = nanos.get() + (Recorder.status == AppMethodBeat.STATUS_STOPPED ? millisAtTheEnd * 1000000L : 0);
        if (on("tracegen-clock")) {
            clockReads.incrementAndGet();
        }
        return now;
    }

    private void fail() {
        Error e = error;
        if (e != null) {
            errors.incrementAndGet();
            throw e;
        }
    }

    @Override
    public long elapsedRealtimeNanos() {
        CountDownLatch gate = writerGate;
        RuntimeException failure = writerFailure;
        if (gate != null && on("tracegen-writer")) {
            while (gate.getCount() > 0) {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    // A disk does not answer earlier because of that.
                }
            }
        }
        if (failure != null && on("tracegen-writer")) {
            throw failure;
        }
        return nanoTime();
    }

    @Override
    public long processCpuNanos() {
        return processCpu.get();
    }

    @Override
    public long processorWaitNanos() {
        return processorWait.get();
    }

    @Override
    public boolean debuggerAttached() {
        return debugger;
    }

    @Override
    public long wallMillis() {
        fail();
        pass(millisPerWallClock);
        return 1795000000000L + nanos.get() / 1000000;
    }

    @Override
    public long threadCpuNanos() {
        cpuReads.incrementAndGet();
        return cpu.get();
    }

    @Override
    public long threadCpuNanos(Thread thread) {
        return cpuOfOthers;
    }

    @Override
    public Map<String, String> machineFacts(Thread thread) {
        Map<String, String> all = new LinkedHashMap<String, String>();
        if (machine) {
            all.put("#at-nanos", String.valueOf(nanos.get()));
            all.put("#process-cpu-ticks", String.valueOf(machineTicks.get()));
            all.put("threads", "9");
            machineReads.incrementAndGet();
        }
        return all;
    }

    @Override
    public long gcCount() {
        return gcCount;
    }

    @Override
    public long gcMillis() {
        if (on("tracegen-sampler")) {
            checks.incrementAndGet();
            Runnable work = checked;
            if (work != null) {
                work.run();
            }
        }
        return gcCount * 7;
    }

    @Override
    public LockWait lockWait(Thread thread) {
        return thread == waitsForLock ? lock : null;
    }

    @Override
    public Thread mainThread() {
        return main;
    }

    @Override
    public synchronized void log(String line) {
        fail();
        logged += line + "\n";
    }
}
