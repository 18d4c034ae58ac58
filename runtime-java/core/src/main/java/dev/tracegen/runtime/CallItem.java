package dev.tracegen.runtime;

/** One item of a {@link CallTree}: a call, or several of one method that follow each other. Immutable. */
public final class CallItem {
    /** How many callers are above it. */
    public final int depth;

    /** The method's ID. */
    public final int id;

    /** How many calls it stands for. */
    public final int count;

    /** How long they took, in ticks. */
    public final long ticks;

    CallItem(int depth, int id, int count, long ticks) {
        this.depth = depth;
        this.id = id;
        this.count = count;
        this.ticks = ticks;
    }

    /** The line of Matrix's reports, with ticks for milliseconds: {@code depth,id,count,ticks}. */
    @Override
    public String toString() {
        return depth + "," + id + "," + count + "," + ticks;
    }
}
