package dev.tracegen.runtime.report;

/** How much an {@link Outbox} keeps. Set the fields before the outbox is created. */
public final class OutboxLimits {
    /** The greatest number of reports. */
    public int reports = 500;

    /** The greatest size of all reports, in bytes. */
    public long bytes = 4L << 20;

    /** How long a report waits at most, in milliseconds. */
    public long ageMillis = 7 * 86400000L;

    /** How many reports with the same key are written in a day. */
    public int perKeyAndDay = 20;

    /** How long the report of an incident that has not ended waits for its end, in milliseconds. */
    public long endMillis = 600000;

    /** Creates the default limits. */
    public OutboxLimits() {
    }

    OutboxLimits(OutboxLimits o) {
        reports = Math.max(1, o.reports);
        bytes = Math.max(Report.MAX_BYTES + Outbox.OVERHEAD, o.bytes);
        ageMillis = o.ageMillis;
        perKeyAndDay = o.perKeyAndDay;
        endMillis = o.endMillis;
    }
}
