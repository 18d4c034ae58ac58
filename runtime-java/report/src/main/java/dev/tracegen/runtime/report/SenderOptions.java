package dev.tracegen.runtime.report;

import java.io.File;
import org.jspecify.annotations.Nullable;

/** When and how much a {@link Sender} sends. Set the fields before the sender is created. Times are milliseconds. */
public final class SenderOptions {
    /** How many reports one batch has at most. */
    public int batchReports = 64;

    /** How many bytes the reports of one batch have at most, before compression. */
    public int batchBytes = 512 << 10;

    /** Reports are sent when so many wait. */
    public int enoughReports = 10;

    /** Reports are sent when one has waited for so long. */
    public long longestWait = 900000;

    /** After the first failure the sender waits for a random time up to this, then up to twice as long, and so on. */
    public long firstRetry = 30000;

    /** The longest wait after failures. */
    public long longestRetry = 6 * 3600000L;

    /** How long nothing is sent after {@link UploadResult#stop}. */
    public long stopTime = 3600000;

    /** How often the sender checks whether the moment has become good. */
    public long check = 60000;

    /** The directory of the recordings to send; null, the default, to send none. */
    public @Nullable File recordings;

    /** How long after the start recordings are sent: until then the ends of earlier processes are added to them. */
    public long recordingsDelay = 120000;

    /** How often recordings are looked for. */
    public long recordingsCheck = 1800000;

    /** Creates the default options. */
    public SenderOptions() {
    }

    SenderOptions(SenderOptions o) {
        batchReports = Math.max(1, o.batchReports);
        batchBytes = o.batchBytes;
        enoughReports = o.enoughReports;
        longestWait = o.longestWait;
        firstRetry = Math.max(1, o.firstRetry);
        longestRetry = Math.max(1, o.longestRetry);
        stopTime = o.stopTime;
        check = Math.max(1, o.check);
        recordings = o.recordings;
        recordingsDelay = o.recordingsDelay;
        recordingsCheck = Math.max(1, o.recordingsCheck);
    }
}
