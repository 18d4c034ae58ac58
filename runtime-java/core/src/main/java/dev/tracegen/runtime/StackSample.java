package dev.tracegen.runtime;

/** A stack of a thread at one moment. Immutable. */
final class StackSample {
    final ThreadTrace trace;
    final long nanos;
    final Thread.State state;
    final StackTraceElement[] stack;

    /** CPU time of the thread by then, in nanoseconds; -1 if unknown. */
    final long cpuNanos;

    /** The lock that the thread waited for; null if none or unknown. */
    final LockWait lock;

    /** The trace of the thread that held the lock; null if none did or if it is unknown. */
    final ThreadTrace owner;

    StackSample(ThreadTrace trace, long nanos, Thread.State state, StackTraceElement[] stack, long cpuNanos,
            LockWait lock, ThreadTrace owner) {
        this.trace = trace;
        this.nanos = nanos;
        this.state = state;
        this.stack = stack;
        this.cpuNanos = cpuNanos;
        this.lock = lock;
        this.owner = owner;
    }

    /** Takes a sample of a thread now. */
    static StackSample of(ThreadTrace trace, Recorder recorder) {
        Platform platform = recorder.platform();
        // Before the stack: what a thread does behind its last record is read from later samples. On a busy machine it
        // may be long until this thread goes on, and then the stack may be from before the record.
        long nanos = platform.nanoTime();
        Thread.State state = trace.thread.getState();
        boolean shown = LetGo.show(state);
        StackTraceElement[] stack;
        try {
            stack = trace.thread.getStackTrace();
        } finally {
            LetGo.hide(shown);
        }
        LockWait lock = state == Thread.State.RUNNABLE ? null : platform.lockWait(trace.thread);
        ThreadTrace owner = lock == null || lock.owner == null ? null : recorder.threads.of(lock.owner);
        return new StackSample(trace, nanos, state, stack, platform.threadCpuNanos(trace.thread), lock, owner);
    }
}
