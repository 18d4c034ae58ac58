package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Platform;
import java.io.File;
import java.util.Random;

/** An outbox without limits, and a sender that waits for almost nothing. */
public final class Fast {
    private Fast() {
    }

    public static Outbox outbox(File directory, String process) {
        OutboxLimits limits = new OutboxLimits();
        limits.reports = 1 << 20;
        limits.bytes = 1L << 40;
        limits.perKeyAndDay = 1 << 20;
        return new Outbox(directory, process, limits);
    }

    public static Sender sender(Outbox outbox, Uploader uploader, Platform clocks, Random random) {
        SenderOptions options = new SenderOptions();
        options.enoughReports = 1;
        options.longestWait = 0;
        options.firstRetry = 20;
        options.longestRetry = 100;
        options.stopTime = 50;
        options.check = 5;
        options.batchReports = 1 + random.nextInt(8);
        return new Sender(outbox, uploader, Moment.ALWAYS, clocks, options, random);
    }
}
