package dev.tracegen.runtime.report;

import dev.tracegen.runtime.RecorderOptions;
import java.io.File;
import org.jspecify.annotations.Nullable;

/** When and how much a {@link Sender} sends. Times are milliseconds. */
final class SenderOptions {
    /** How many reports one batch has at most. */
    int batchReports = 64;

    /** How many bytes the reports of one batch have at most, before compression. */
    int batchBytes = 512 << 10;

    /** Reports are sent when so many wait. */
    int enoughReports = 10;

    /** Reports are sent when one has waited for so long. */
    long longestWait = 900000;

    /** After the first failure the sender waits for a random time up to this, then up to twice as long, and so on. */
    long firstRetry = 30000;

    /** The longest wait after failures. */
    long longestRetry = 6 * 3600000L;

    /** How long nothing is sent after {@link UploadResult#stop}. */
    long stopTime = 3600000;

    /** How often the sender checks whether the moment has become good. */
    long check = 60000;

    /** The directory of the recordings to send; null, the default, to send none. */
    @Nullable File recordings;

    /** How long after the start recordings are sent: until then the ends of earlier processes are added to them. */
    long recordingsDelay = 120000;

    /** How often recordings are looked for. */
    long recordingsCheck = 1800000;

    static SenderOptions of(RecorderOptions options) {
        SenderOptions o = new SenderOptions();
        o.enoughReports = options.number("upload-enough");
        o.longestWait = options.number("upload-wait") * 60000L;
        return o;
    }
}
