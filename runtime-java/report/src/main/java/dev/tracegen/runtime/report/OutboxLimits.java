package dev.tracegen.runtime.report;

import dev.tracegen.runtime.RecorderOptions;

/** How much an {@link Outbox} keeps. */
final class OutboxLimits {
    /** The greatest number of reports. */
    int reports = 500;

    /** The greatest size of all reports, in bytes. */
    long bytes = 4L << 20;

    /** How long a report waits at most, in milliseconds. */
    long ageMillis = 7 * 86400000L;

    /** How many reports with the same key are written in a day. */
    int perKeyAndDay = 20;

    /** How long the report of an incident that has not ended waits for its end, in milliseconds. */
    long endMillis = 600000;

    static OutboxLimits of(RecorderOptions options) {
        OutboxLimits o = new OutboxLimits();
        o.reports = options.number("outbox-reports");
        o.bytes = (long) options.number("outbox-megabytes") << 20;
        o.ageMillis = options.number("outbox-days") * 86400000L;
        o.perKeyAndDay = options.number("upload-per-key");
        return o;
    }
}
