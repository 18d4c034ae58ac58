package dev.tracegen.runtime;

/**
 * Counts the recorder's own failures. A recorder that fails again and again is turned off: it does not do its work, and
 * may cost the app something each time. The loops of the recorder's threads pause for a tenth of a second after a
 * failure, so one that always fails turns the recorder off within a second.
 *
 * <p>Not counted is what says nothing about the recorder: that there is no memory or no stack left, and what the disk
 * or a listener of the app does.
 */
final class Failures {
    /** So many failures within {@link #PERIOD_NANOS} are too many. */
    static final int TOO_MANY = 5;
    static final long PERIOD_NANOS = 60000000000L;

    /** When the last failures occurred. */
    private final long[] times = new long[TOO_MANY];
    private int count;
    private boolean given;
    private Throwable first;

    /**
     * Counts a failure.
     *
     * @param nanos the time of a clock that does not fail
     * @return the first failure, if they are too many now, and only once; null otherwise
     */
    synchronized Throwable add(Throwable e, long nanos) {
        if (e instanceof OutOfMemoryError || e instanceof StackOverflowError || e instanceof java.io.IOException) {
            return null;
        }
        first = first == null ? e : first;
        times[count % TOO_MANY] = nanos;
        count++;
        // The oldest of the last five is the one that is replaced next.
        boolean often = count >= TOO_MANY && nanos - times[count % TOO_MANY] <= PERIOD_NANOS;
        if (given || !often) {
            return null;
        }
        given = true;
        return first;
    }
}
