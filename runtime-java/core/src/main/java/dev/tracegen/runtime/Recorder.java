package dev.tracegen.runtime;

import java.security.SecureRandom;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls of instrumented methods, finds stalls, and writes recordings.
 *
 * <p>At most one recorder runs at a time. The first call of an instrumented method creates one with the default
 * options, so that the start of an app is recorded before its code can configure anything. {@link #start} takes that
 * recorder over. If {@link #start} is not called within 10 seconds, the ring is released and recording is off. On a
 * plain JVM the system property {@code tracegen.output} replaces the call of {@link #start}.
 */
public final class Recorder {
    static volatile Recorder current;
    static volatile int status = AppMethodBeat.STATUS_DEFAULT;

    final FastPath fastPath;
    final ThreadRegistry threads;
    final Failures failures = new Failures(this);
    private final Ticker ticker;
    private final Thread mainThread;
    private final AtomicLong nextIncident = new AtomicLong();
    private final Rings rings;
    private final long createdNanos;
    private volatile RecorderOptions options;
    private final Dropped dropped = new Dropped();

    /** Null before recording begins, and for ever if it does not. */
    private volatile Roles roles;
    private volatile Map<String, String> detectorStates = Collections.emptyMap();
    /** 0 while nothing has asked for it. */
    private long recordingNumber;
    private volatile String scene;
    private volatile boolean foreground;
    private volatile long stopNanos;

    Recorder(RecorderOptions options) {
        this.options = options;
        Platform platform = options.platform;
        Thread main = platform.mainThread();
        this.mainThread = main == null ? Thread.currentThread() : main;
        this.rings = new Rings(this, new MemoryBudget(MemoryBudget.bytes(options)), options.ringRecords);
        rings.use(options);
        this.threads = new ThreadRegistry(this, rings, mainThread);
        this.createdNanos = platform.nanoTime();
        this.ticker = new Ticker(this, platform, options.tickNanos, options.clockPeriodMillis);
        this.fastPath = new FastPath(this, threads.main(), ticker);
    }

    /**
     * Starts recording. What the main thread has recorded since the first instrumented call is kept if the options have
     * the same main thread. Its records keep their tick, so the whole recording has that. A recorder that runs is
     * stopped first; the new one writes when the recording of that one is complete. Returns at once.
     *
     * @param options the options; they are copied
     */
    public static Recorder start(RecorderOptions options) {
        RecorderOptions o = withPlatform(options.copy());
        o.meta("slowIdleMillis", Integer.toString(o.slowIdleMillis));
        o.meta("threads", o.threadsText());
        if (!o.get("build-id").isEmpty()) {
            o.meta("buildId", o.get("build-id"));
        }
        EarlyStart.lock();
        try {
            Recorder r = current;
            Roles before = r == null ? null : r.roles;
            if (r != null && status == AppMethodBeat.STATUS_READY && r.canContinueWith(o)) {
                r.takeOver(o);
            } else {
                if (r != null) {
                    r.stop();
                }
                r = new Recorder(o);
                r.ticker.start();
            }
            r.begin(before);
            return r;
        } finally {
            EarlyStart.unlock();
        }
    }

    static RecorderOptions withPlatform(RecorderOptions o) {
        return o.platform == null ? o.platform(Host.get().platform()) : o;
    }

    /** Reports whether the records so far may be kept under other options. */
    private boolean canContinueWith(RecorderOptions o) {
        Thread main = o.platform.mainThread();
        return (main == null || main == mainThread)
                && Math.abs(o.platform.nanoTime() - options.platform.nanoTime()) < EarlyStart.EXPIRY_NANOS;
    }

    /** Continues with other options. The records so far are of the same tick, and of the clock period that was. */
    private void takeOver(RecorderOptions o) {
        o.tickNanos = options.tickNanos;
        o.earlyPeriodMillis = options.clockPeriodMillis;
        options = o;
        ticker.period(o.clockPeriodMillis);
    }

    /**
     * Begins to write and deliver.
     *
     * @param before the roles of the recorder before, null if there was none
     */
    void begin(Roles before) {
        rings.use(options);
        Roles begun = new Roles(this, ticker, before);
        roles = begun;
        try {
            begun.start();
        } catch (Throwable e) {
            // No thread is left. Those that run end at once.
            ticker.stop();
            current = this;
            EarlyStart.turnOff();
            fastPath.update();
            options.platform.log("nothing is recorded, and the program runs on: " + e);
            return;
        }
        if (options.platform instanceof Host.EarlyPlatform) {
            Host.get().began();
        }
        current = this;
        status = AppMethodBeat.STATUS_STARTED;
        fastPath.update();
    }

    /**
     * Returns the current recorder.
     *
     * @return null if there is none
     */
    public static @Nullable Recorder current() {
        return current;
    }

    /**
     * Stops recording and returns at once. Threads of the recorder then write the rest of the recording, close the
     * file, and deliver the last stalls. The rings keep their records.
     */
    public void stop() {
        if (!recording()) {
            return;
        }
        // First of all: as soon as recording is off, calls end without an exit.
        try {
            stopNanos = options.platform.nanoTime();
        } catch (Throwable e) {
            // The recorder may be stopped because this fails. Then the recording ends when its last chunk is written.
        }
        status = AppMethodBeat.STATUS_STOPPED;
        fastPath.update();
        ticker.stop();
        Roles r = roles;
        if (r != null) {
            r.sampler.stop();
        }
    }

    /**
     * Waits until a recorder that was stopped has written and delivered everything. For the exit of a JVM, which has
     * no other thread to wait for.
     */
    void awaitEnd(long millis) throws InterruptedException {
        Roles r = roles;
        if (r != null) {
            r.awaitEnd(millis);
        }
    }

    /**
     * Returns the trace of a thread. With {@link RecorderOptions#THREADS_CHOSEN} it also makes the thread a recorded
     * one. May be called on any thread.
     *
     * @return the same object for the same thread while it lives
     */
    public ThreadTrace thread(Thread thread) {
        ThreadTrace trace = threads.of(thread);
        if (options.threads == RecorderOptions.THREADS_CHOSEN) {
            trace.choose();
        }
        return trace;
    }

    /**
     * Sets the listener that is called for each stall.
     *
     * @param listener null for none, which is the default
     */
    public static void setStallListener(@Nullable StallListener listener) {
        Listeners.stall = listener;
    }

    /**
     * Sets the listener that is called for each incident.
     *
     * @param listener null for none, which is the default
     */
    public static void setIncidentListener(@Nullable IncidentListener listener) {
        Listeners.incident = listener;
    }

    /**
     * Sets the listeners that make reports of stalls and incidents. They are called as the listeners of the app are,
     * before these, and do not replace them.
     *
     * @param stalls null for none, which is the default
     * @param incidents null for none, which is the default
     */
    public static void setReporter(@Nullable StallListener stalls, @Nullable IncidentListener incidents) {
        Listeners.stallReporter = stalls;
        Listeners.incidentReporter = incidents;
    }

    /**
     * Returns the ID of the recording, which its META chunk has as {@code recordingId}. It is also the ID of a recorder
     * that writes no file.
     *
     * @return 16 hexadecimal digits
     */
    public String recordingId() {
        return RecordingWriter.hex(recordingNumber());
    }

    /** Returns the number that {@link #recordingId} writes. The first call reads random bytes of the system. */
    long recordingNumber() {
        synchronized (threads) {
            if (recordingNumber == 0) {
                recordingNumber = new SecureRandom().nextLong() | 1;
            }
            return recordingNumber;
        }
    }

    /**
     * Returns when the first instrumented method was called, or when the recorder was made if that was earlier.
     *
     * @return the time, in {@link Platform#nanoTime()}
     */
    public long firstNanos() {
        return createdNanos;
    }

    /**
     * Begins an incident that a detector has found. Nothing is reported until {@link Incident.Builder#report}.
     *
     * @param kind what was found, one of the kinds of trace/FORMAT.md
     * @return an object that collects what is known of it; it begins now, in the current scene
     */
    public Incident.Builder incident(String detector, String kind) {
        return new Incident.Builder(this, nextIncident.getAndIncrement(), detector, kind);
    }

    /** Queues an incident for the sampler. Never throws. */
    void report(Incident incident) {
        Roles r = roles;
        if (r != null && recording()) {
            r.sampler.incident(incident);
        }
    }

    /**
     * Sets what each detector does, for the recording and for reports.
     *
     * @param states by the name of the detector: {@code on}, {@code off}, or why it is not available
     */
    public void detectorStates(Map<String, String> states) {
        detectorStates = Collections.unmodifiableMap(new TreeMap<String, String>(states));
    }

    /**
     * Returns what was set by {@link #detectorStates(Map)}.
     *
     * @return empty if nothing was set; unmodifiable
     */
    public Map<String, String> detectorStates() {
        return detectorStates;
    }

    /** Returns the clocks and facts of the virtual machine that this recorder uses. */
    public Platform platform() {
        return options.platform;
    }

    /**
     * Sets the listener that is called when an activity gains or loses the focus, for the runtime's own use.
     *
     * @param listener null for none
     */
    public static void setOwnFocusListener(@Nullable FocusListener listener) {
        Focus.listen(listener);
    }

    /**
     * Sets the methods that are not recorded, instead of those of an earlier call. May be called at any time on any
     * thread, also before recording begins. Each thread leaves the methods out from its next call on, or as soon as
     * that does not split a call. The recording says which methods were off when. Calls and time of these methods
     * appear in their callers.
     *
     * @param ids IDs of methods, at most 60,000; others than 1 to 0xFFFFD are ignored
     * @param mappingDigest the digest of the mapping that the IDs are of, as {@link MappingInfo#digest} returns it
     * @return false, and nothing is changed, if the program was instrumented with another mapping
     */
    public static boolean setGate(int[] ids, String mappingDigest) {
        if (!MappingInfo.digest().equals(mappingDigest)) {
            return false;
        }
        Gate.fromOutside = ids.clone();
        Recorder r = current;
        if (r != null) {
            r.messageBegan();
        }
        return true;
    }

    /**
     * Sets the scene for reports: the name of the screen that the app shows.
     *
     * @param name null for the class of the activity that has the focus, which is the default
     */
    public void scene(@Nullable String name) {
        scene = name;
    }

    /**
     * Sets whether the app is in the foreground, for reports.
     *
     * @param value false if never set
     */
    public void foreground(boolean value) {
        foreground = value;
    }

    /** Returns the slow threshold of messages. */
    public int slowMillis() {
        return options.slowMillis;
    }

    RecorderOptions options() {
        return options;
    }

    Ticker ticker() {
        return ticker;
    }

    Rings rings() {
        return rings;
    }

    boolean recording() {
        return status > 0 && current == this;
    }

    /**
     * Returns the scene that reports name now.
     *
     * @return what was set by {@link #scene(String)}, otherwise the class of the activity that has the focus; null if
     *     none has
     */
    public @Nullable String scene() {
        String s = scene;
        return s != null ? s : Focus.activityClass();
    }

    /**
     * Reports whether the app is in the foreground.
     *
     * @return what was set by {@link #foreground(boolean)}
     */
    public boolean foreground() {
        return foreground;
    }

    /** Returns the time now, or if recording was stopped, the last moment by which every exit was recorded. */
    long lastNanos() {
        // The clock is read first: recording may stop in between.
        long now = options.platform.nanoTime();
        long stop = stopNanos;
        return stop == 0 ? now : stop;
    }

    /**
     * Releases what the recorder holds since the first instrumented call, and switches recording off, as if
     * {@link #start} had not been called in time. For an app that knows early that it does not record. Does nothing if
     * {@link #start} was called before; {@link #start} may be called later. May be called on any thread at any time.
     */
    public static void disable() {
        EarlyStart.disable();
    }

    /** Wakes the sampler, because a ring is getting full. */
    void wakeSampler() {
        Roles r = roles;
        if (r != null) {
            r.sampler.unpark();
        }
    }

    Dropped dropped() {
        return dropped;
    }

    /** Reports whether the writer has written all that was handed over to it. For tests. */
    boolean writerIsIdle() {
        Roles r = roles;
        return r != null && r.writer.isIdle();
    }

    /** Wakes the sampler, which measures how long the message runs. */
    void messageBegan() {
        Roles r = roles;
        if (r != null) {
            r.sampler.wake();
        }
    }

    /** Queues a stall that has ended for the sampler. */
    void stallEnded(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        Roles r = roles;
        if (r != null) {
            r.sampler.stallEnded(trace, message, before);
        }
    }

    void frame(FrameTiming timing) {
        Roles r = roles;
        if (r != null && recording()) {
            r.sampler.frame(timing);
        }
    }
}
