package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Platform;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Sends reports in good moments. The no-op has no thread and sends nothing. */
public final class Sender implements Runnable {
    /**
     * Creates a sender.
     *
     * @param outbox ignored
     * @param uploader ignored
     * @param moment ignored
     * @param platform ignored
     * @param options ignored
     * @param random ignored
     */
    public Sender(Outbox outbox, Uploader uploader, Moment moment, Platform platform, SenderOptions options,
            Random random) {
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public Sender config(@Nullable RemoteConfig value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public Sender configOnly(boolean value) {
        return this;
    }

    /** Does nothing. */
    public void start() {
    }

    /** Does nothing. */
    public void stop() {
    }

    /** Does nothing. */
    public void wake() {
    }

    @Override
    public void run() {
    }
}
