package dev.tracegen.runtime;

/** One item of a {@link CallTree}: a call, or several calls of one method that follow each other. Immutable. */
public final class CallItem {
    /** How many callers it has in the tree; 0 for an outermost call. */
    public final int depth;

    /** The method's ID. */
    public final int id;

    /** How many calls it stands for, at least 1. */
    public final int count;

    /** The total time of the calls, in ticks. */
    public final long ticks;

    CallItem(int depth, int id, int count, long ticks) {
        this.depth = depth;
        this.id = id;
        this.count = count;
        this.ticks = ticks;
    }

    /** Returns the line of Matrix's reports, with ticks in place of milliseconds: {@code depth,id,count,ticks}. */
    @Override
    public String toString() {
        return depth + "," + id + "," + count + "," + ticks;
    }
}
