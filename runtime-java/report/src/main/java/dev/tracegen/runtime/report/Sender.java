package dev.tracegen.runtime.report;

import dev.tracegen.runtime.FileClaim;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Recordings;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Sends the reports of an outbox, and recordings if that was chosen, on a thread of its own. Of all processes with one
 * outbox, one sends at a time.
 *
 * <p>After a failure it waits: for a random time up to half a minute, after each further failure up
 * to twice as long. When to go on is written to the disk <em>before</em> each attempt. So a process that dies while it
 * sends, at each of its starts, does not send at each of its starts.
 */
public final class Sender implements Runnable {
    /** How many batches are sent in one step, and how many recordings are remembered as refused. */
    private static final int MAX_BATCHES = 100;
    private static final int MAX_REFUSED = 100;

    private static final long LONGEST_SLEEP = 3600000;

    private final Outbox outbox;
    private final Uploader uploader;
    private final Moment moment;
    private final Platform platform;
    private final SenderOptions options;
    private final Random random;
    private final File stateFile;
    private final Object lock = new Object();

    // Used by the sender's thread only.
    private int most;
    private long notBefore;
    private long nextRecordings;
    private String lastReason = "";
    private Properties state = new Properties();

    private volatile @Nullable RemoteConfig config;
    private volatile boolean configOnly;

    // Guarded by lock.
    private boolean started;
    private boolean stopped;
    private boolean woken;

    /**
     * Creates a sender that does nothing yet.
     *
     * @param platform the clock and the log
     * @param options with {@code upload-enough} and {@code upload-wait}
     * @param random for the times between attempts
     */
    public Sender(Outbox outbox, Uploader uploader, Moment moment, Platform platform, RecorderOptions options,
            Random random) {
        this(outbox, uploader, moment, platform, SenderOptions.of(options), random);
    }

    Sender(Outbox outbox, Uploader uploader, Moment moment, Platform platform, SenderOptions options, Random random) {
        this.outbox = outbox;
        this.uploader = uploader;
        this.moment = moment;
        this.platform = platform;
        this.options = options;
        this.random = random;
        this.stateFile = new File(outbox.directory(), "sender");
        this.most = this.options.batchReports;
        this.nextRecordings = platform.wallMillis() + this.options.recordingsDelay;
    }

    /**
     * Sets the configuration that is fetched by the same thread in good moments.
     *
     * @param value null for none, which is the default
     */
    public Sender config(@Nullable RemoteConfig value) {
        config = value;
        return this;
    }

    /**
     * Sends finished recordings too.
     *
     * @param directory of the recordings; null, the default, to send none
     */
    public Sender recordings(@Nullable File directory) {
        options.recordings = directory;
        return this;
    }

    /**
     * Sets whether only the configuration is fetched, because recording is switched off. May be called at any time.
     *
     * @param value false if not set
     */
    public Sender configOnly(boolean value) {
        configOnly = value;
        return this;
    }

    /** Starts the thread. A second call has no effect. */
    public void start() {
        synchronized (lock) {
            if (started) {
                return;
            }
            started = true;
        }
        Thread thread = new Thread(this, "tracegen-sender");
        thread.setDaemon(true);
        thread.setPriority(Thread.MIN_PRIORITY);
        thread.start();
    }

    /** Ends the thread after the upload that runs. Returns at once. */
    public void stop() {
        synchronized (lock) {
            stopped = true;
            lock.notifyAll();
        }
    }

    /** Lets the thread look for reports now. Returns at once. */
    public void wake() {
        synchronized (lock) {
            woken = true;
            lock.notifyAll();
        }
    }

    /** Sends until {@link #stop}. For the thread of {@link #start}. */
    @Override
    public void run() {
        for (;;) {
            long wait = options.check;
            try {
                wait = step();
            } catch (Throwable e) {
                log("sending failed: " + e);
            }
            synchronized (lock) {
                try {
                    if (!stopped && !woken) {
                        lock.wait(Math.max(1, Math.min(wait, LONGEST_SLEEP)));
                    }
                } catch (InterruptedException e) {
                    stopped = true;
                }
                woken = false;
            }
            if (isStopped()) {
                return;
            }
        }
    }

    private boolean isStopped() {
        synchronized (lock) {
            return stopped;
        }
    }

    /**
     * Sends what is to be sent now.
     *
     * @return after how many milliseconds to call it again
     */
    long step() throws IOException {
        long now = platform.wallMillis();
        RemoteConfig c = config;
        boolean fetch = c != null && c.isDue(now);
        boolean reports = !configOnly && reportsAreDue(now);
        boolean recordings = !configOnly && options.recordings != null && now >= nextRecordings;
        if (!fetch && !reports && !recordings) {
            return options.check;
        }
        String reason = moment.unsuitable();
        if (reason.length() > 0) {
            if (!reason.equals(lastReason)) {
                log("nothing is sent now: " + reason);
            }
            lastReason = reason;
            return options.check;
        }
        // Without a report it may not exist yet.
        outbox.directory().mkdirs();
        FileClaim claim = FileClaim.of(new File(outbox.directory(), "sender.lock"));
        if (claim == null) {
            return options.check;
        }
        try {
            if (fetch) {
                c.fetch();
            }
            if (reports || recordings) {
                load(now);
                long wait = notBefore - platform.wallMillis();
                if (wait > 0) {
                    return Math.min(wait, options.check);
                }
                if (sendReports() && recordings) {
                    sendRecordings();
                }
            }
        } finally {
            claim.release();
        }
        return options.check;
    }

    private boolean reportsAreDue(long now) {
        long oldest = outbox.oldest(now);
        // A report from the future was written before the clock was set back.
        return oldest >= 0 && (now - oldest >= options.longestWait || oldest > now
                || outbox.waiting(now) >= options.enoughReports);
    }

    /** Sends all reports. Returns false if something failed. */
    private boolean sendReports() {
        for (int k = 0; k < MAX_BATCHES && !isStopped() && !configOnly; k++) {
            long now = platform.wallMillis();
            Batch batch = outbox.batch(most, options.batchBytes, now);
            if (batch == null) {
                return true;
            }
            if (moment.unsuitable().length() > 0) {
                return false;
            }
            UploadResult r = upload(batch, null, null);
            if (r.kind == UploadResult.Kind.TOO_LARGE && batch.size() > 1) {
                most = Math.max(1, batch.size() / 2);
                succeeded();
                continue;
            }
            boolean refused = r.kind == UploadResult.Kind.REFUSED || r.kind == UploadResult.Kind.TOO_LARGE;
            if (refused) {
                log(batch.size() + " reports are deleted, because the collector refused them: " + r.why);
            } else if (r.kind != UploadResult.Kind.DELIVERED) {
                failed(r);
                return false;
            }
            if (!outbox.done(batch, refused ? batch.size() : r.refused)) {
                log("reports that were delivered cannot be deleted in " + outbox.directory());
                failed(UploadResult.stop("the disk"));
                return false;
            }
            succeeded();
        }
        return true;
    }

    private void sendRecordings() {
        nextRecordings = platform.wallMillis() + options.recordingsCheck;
        Recordings all = Recordings.of(options.recordings);
        List<String> refused = new ArrayList<String>(Arrays.asList(state.getProperty("refused", "").split(" ")));
        for (File f : all.finished()) {
            String name = Text.fileName(f.getName()) + ":" + f.length() + ":" + f.lastModified();
            if (refused.contains(name)) {
                continue;
            }
            if (isStopped() || moment.unsuitable().length() > 0) {
                return;
            }
            Map<String, String> facts = all.facts(f);
            UploadResult r = facts.get("recordingId") == null ? UploadResult.refused("it has no ID")
                    : upload(null, f, facts);
            if (r.kind == UploadResult.Kind.DELIVERED) {
                all.delivered(f);
            } else if (r.kind == UploadResult.Kind.REFUSED || r.kind == UploadResult.Kind.TOO_LARGE) {
                log(f + " remains and is not sent again: " + r.why);
                refused.add(name);
                int first = Math.max(0, refused.size() - MAX_REFUSED);
                StringBuilder b = new StringBuilder();
                for (String s : refused.subList(first, refused.size())) {
                    b.append(b.length() == 0 ? "" : " ").append(s);
                }
                state.setProperty("refused", b.toString());
            } else {
                failed(r);
                return;
            }
            succeeded();
        }
    }

    /** Uploads something. The next attempt is put off before, because this process may not survive it. */
    private UploadResult upload(@Nullable Batch batch, @Nullable File recording, @Nullable Map<String, String> facts) {
        long failures = Math.min(40, DiskFile.number(state, "failures", 0) + 1);
        state.setProperty("failures", Long.toString(failures));
        putOff(pause(failures));
        try {
            return batch != null ? uploader.reports(batch) : uploader.recording(recording, facts);
        } catch (Throwable e) {
            return UploadResult.later(-1, e.toString());
        }
    }

    /** Returns a random time, up to twice as long after each failure. */
    private long pause(long failures) {
        long longest = Math.min(options.longestRetry, options.firstRetry << Math.min(20, failures - 1));
        return Math.max(Math.min(1000, options.firstRetry), (long) (random.nextDouble() * longest));
    }

    private void succeeded() {
        state.remove("failures");
        putOff(0);
        lastReason = "";
    }

    private void failed(UploadResult r) {
        if (r.kind == UploadResult.Kind.STOP) {
            putOff(options.stopTime);
        } else if (r.afterMillis >= 0) {
            // Not all devices at the same moment.
            long after = Math.min(r.afterMillis, options.longestRetry);
            putOff(after + (long) (random.nextDouble() * (after / 10 + Math.min(1000, options.firstRetry))));
        }
        if (!r.why.equals(lastReason)) {
            log("reports wait for " + (notBefore - platform.wallMillis()) / 1000 + " s: " + r.why);
        }
        lastReason = r.why;
    }

    private void putOff(long millis) {
        notBefore = millis == 0 ? 0 : platform.wallMillis() + millis;
        state.setProperty("notBefore", Long.toString(notBefore));
        try {
            DiskFile.replace(stateFile, new File(stateFile.getPath() + DiskFile.TEMPORARY), DiskFile.content(state),
                    false);
        } catch (IOException e) {
            // Then only this process waits.
        }
    }

    /** Reads what this process or another one has put off. */
    private void load(long now) {
        state = DiskFile.properties(stateFile);
        long stored = DiskFile.number(state, "notBefore", 0);
        // If the clock was set back, the wait may seem much longer than any that was chosen.
        boolean sane = stored <= now + options.longestRetry + options.longestRetry / 5 + options.stopTime;
        notBefore = sane ? stored : 0;
    }

    private void log(String line) {
        platform.log(line);
    }
}
