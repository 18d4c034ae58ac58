package dev.tracegen.runtime;

/** A message or an outermost call that has not ended, as the recorder saw it at one moment. Immutable. */
final class OpenCall {
    final ThreadTrace trace;

    /** Its number on its thread, as in {@link MessageRecord#sequence}. */
    final long number;

    /** Its kind, as in {@link MessageRecord#kind}: which threshold it has. */
    final int kind;

    /** Its text, as in {@link MessageRecord#description}; null if unknown. */
    final String text;

    /** When it began, in {@link Platform#nanoTime()}. */
    final long beginNanos;

    /** The state of its thread; null if unknown. */
    final Thread.State state;

    /** The CPU time of its thread since the thread began, in nanoseconds; -1 if unknown. */
    final long cpuNanos;

    OpenCall(ThreadTrace trace, long number, int kind, String text, long beginNanos, Thread.State state,
            long cpuNanos) {
        this.trace = trace;
        this.number = number;
        this.kind = kind;
        this.text = text;
        this.beginNanos = beginNanos;
        this.state = state;
        this.cpuNanos = cpuNanos;
    }
}
