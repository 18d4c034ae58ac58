package dev.tracegen.runtime;

import java.security.SecureRandom;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
    /** How long the first records are kept until {@link #start} is called. */
    static final long EXPIRY_NANOS = 10000000000L;

    /** How many bytes of what was copied may wait for the writer. For the delivery it is half of that. */
    private static final long QUEUE_BYTES = 16L << 20;

    /** A call that takes so long is recorded even in a window, or one that takes a quarter of the slow threshold. */
    private static final int LONG_CALL_MILLIS = 20;

    // The first call never waits for this lock: the app may hold any lock at that moment.
    private static final AtomicBoolean STARTING = new AtomicBoolean();

    /** Set while the system properties are read and from then on. */
    private static final AtomicBoolean READING = new AtomicBoolean();

    /** What the system properties say, null for nothing. Written before {@link #earlyOptionsRead}. */
    private static RecorderOptions earlyOptions;
    private static volatile boolean earlyOptionsRead;

    private static volatile Recorder current;
    private static volatile int status = AppMethodBeat.STATUS_DEFAULT;
    private static volatile MethodEnterListener enterListener;
    private static volatile StallListener stallListener;
    private static volatile IncidentListener incidentListener;
    private static volatile StallListener stallReporter;
    private static volatile IncidentListener incidentReporter;
    private static volatile DroppedFrameListener droppedFrameListener;
    private static volatile int[] gateFromOutside;

    private final Ticker ticker;
    private final Thread mainThread;
    private final ThreadTrace mainTrace;
    private final Ring placeholder;

    /** As the placeholder, but without the gate: every call must come here. */
    private final Ring bare;
    private final ConcurrentHashMap<Thread, ThreadTrace> traces = new ConcurrentHashMap<Thread, ThreadTrace>();
    private final ThreadLocal<ThreadTrace> ownTrace = new ThreadLocal<ThreadTrace>();
    private final AtomicInteger nextIndex = new AtomicInteger();
    private final AtomicLong nextIncident = new AtomicLong();
    private final AtomicBoolean hasFailed = new AtomicBoolean();
    private final Rings rings;
    private final AtomicBoolean listenerHasFailed = new AtomicBoolean();
    private final Failures failures = new Failures();
    private final long createdNanos;
    private volatile RecorderOptions options;
    private final Dropped dropped = new Dropped();
    private volatile Sampler sampler;
    private volatile Writer writer;
    private volatile Delivery delivery;
    private volatile Gate.Request gateRequest;
    private volatile Map<String, String> detectorStates = Collections.emptyMap();
    /** 0 while nothing has asked for it. */
    private long recordingNumber;
    private volatile String scene;
    private volatile boolean foreground;
    private volatile long stopNanos;

    private Recorder(RecorderOptions options) {
        this.options = options;
        Platform platform = options.platform;
        Thread main = platform.mainThread();
        this.mainThread = main == null ? Thread.currentThread() : main;
        this.rings = new Rings(this, new MemoryBudget(MemoryBudget.bytes(options)), options.ringRecords);
        rings.use(options, LONG_CALL_MILLIS);
        rings.takeThreadAlways();
        this.mainTrace = new ThreadTrace(this, mainThread, nextIndex.getAndIncrement(), true, true);
        this.placeholder = Ring.placeholder(mainThread);
        this.bare = Ring.placeholder(mainThread);
        this.traces.put(mainThread, mainTrace);
        this.createdNanos = platform.nanoTime();
        this.ticker = new Ticker(this, platform, options.tickNanos, options.clockPeriodMillis);
    }

    /**
     * Starts recording. What the main thread has recorded since the first instrumented call is kept if the options have
     * the same main thread. Its records keep their tick, so the whole recording has that. A recorder that runs is
     * stopped first; the new one writes when the recording of that one is complete. Returns at once.
     *
     * @param options the options; they are copied
     * @return the recorder
     */
    public static Recorder start(RecorderOptions options) {
        RecorderOptions o = withPlatform(new RecorderOptions(options));
        o.meta("slowIdleMillis", Integer.toString(o.slowIdleMillis));
        o.meta("slowInputMillis", Integer.toString(o.slowInputMillis));
        while (!STARTING.compareAndSet(false, true)) {
            Thread.yield();
        }
        try {
            Recorder r = current;
            Writer before = r == null ? null : r.writer;
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
            STARTING.set(false);
        }
    }

    private static RecorderOptions withPlatform(RecorderOptions o) {
        return o.platform == null ? o.platform(new JvmPlatform()) : o;
    }

    /** Reports whether the records so far may be kept under other options. */
    private boolean canContinueWith(RecorderOptions o) {
        Thread main = o.platform.mainThread();
        return (main == null || main == mainThread)
                && Math.abs(o.platform.nanoTime() - options.platform.nanoTime()) < EXPIRY_NANOS;
    }

    /** Continues with other options. The records so far are of the same tick, and of the clock period that was. */
    private void takeOver(RecorderOptions o) {
        o.tickNanos = options.tickNanos;
        o.earlyPeriodMillis = options.clockPeriodMillis;
        options = o;
        mainTrace.limitHistory();
        ticker.period(o.clockPeriodMillis);
    }

    private void begin(Writer before) {
        rings.use(options, LONG_CALL_MILLIS);
        if (options.refusedTickNanos != 0) {
            options.platform.log("ticks of " + options.refusedTickNanos + " ns are too short: times would be full "
                    + "after some hours or days; ticks are " + RecorderOptions.TICK_NANOS + " ns instead");
        }
        Writer w = new Writer(this, ticker, before);
        Delivery d = new Delivery(this);
        Sampler s = new Sampler(this, ticker, w, d);
        writer = w;
        delivery = d;
        sampler = s;
        try {
            w.start();
            d.start();
            s.start();
        } catch (Throwable e) {
            // No thread is left. Those that run end at once.
            w.finish();
            d.finish();
            ticker.stop();
            current = this;
            turnOff();
            updateFastPath();
            options.platform.log("nothing is recorded, and the program runs on: " + e);
            return;
        }
        if (options.platform instanceof JvmPlatform) {
            JvmMode.finishOnExit();
        }
        current = this;
        status = AppMethodBeat.STATUS_STARTED;
        updateFastPath();
    }

    /** Creates the first recorder without waiting. Returns null if that is not possible now. */
    private static Recorder startEarly() {
        if (!earlyOptionsRead && !readEarlyOptions() || !STARTING.compareAndSet(false, true)) {
            return null;
        }
        try {
            if (current == null && status == AppMethodBeat.STATUS_DEFAULT) {
                RecorderOptions fromProperties = earlyOptions;
                Recorder r = new Recorder(fromProperties == null ? withPlatform(new RecorderOptions())
                        : fromProperties);
                r.ticker.start();
                if (fromProperties != null) {
                    r.begin(null);
                } else {
                    status = AppMethodBeat.STATUS_READY;
                    current = r;
                    r.updateFastPath();
                }
            }
            return current;
        } catch (Throwable e) {
            turnOff();
            return null;
        } finally {
            STARTING.set(false);
        }
    }

    /**
     * Reads what the system properties say, once. It may log lines about them, so it does not happen under the lock:
     * while one thread reads, the calls of others are not recorded. Returns false if another thread reads or if that
     * is not possible.
     */
    private static boolean readEarlyOptions() {
        if (!READING.compareAndSet(false, true)) {
            return earlyOptionsRead;
        }
        try {
            earlyOptions = JvmMode.options();
            earlyOptionsRead = true;
        } catch (Throwable e) {
            turnOff();
        }
        return earlyOptionsRead;
    }

    /** Records nothing, because there is no memory or no thread left for the first recorder. The app goes on. */
    private static void turnOff() {
        AppMethodBeat.mode = AppMethodBeat.OFF;
        status = AppMethodBeat.STATUS_STOPPED;
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
        updateFastPath();
        ticker.stop();
        Sampler s = sampler;
        if (s != null) {
            s.stop();
        }
    }

    /**
     * Waits until a recorder that was stopped has written and delivered everything. For the exit of a JVM, which has
     * no other thread to wait for.
     *
     * @param millis the longest wait
     */
    void awaitEnd(long millis) throws InterruptedException {
        long end = System.nanoTime() + millis * 1000000L;
        Sampler s = sampler;
        if (s != null) {
            s.join(millis);
            writer.join((end - System.nanoTime()) / 1000000L);
            delivery.join((end - System.nanoTime()) / 1000000L);
        }
    }

    /**
     * Returns the trace of a thread. With {@link RecorderOptions#THREADS_CHOSEN} it also makes the thread a recorded
     * one. May be called on any thread.
     *
     * @param thread the thread
     * @return the same object for the same thread while it lives
     */
    public ThreadTrace thread(Thread thread) {
        ThreadTrace trace = traceOf(thread);
        if (options.threads == RecorderOptions.THREADS_CHOSEN) {
            trace.choose();
        }
        return trace;
    }

    /** Returns the trace of a thread without choosing the thread. */
    ThreadTrace traceOf(Thread thread) {
        ThreadTrace trace = traces.get(thread);
        if (trace == null) {
            rings.takeThreadAlways();
            trace = newTrace(thread);
        }
        return trace;
    }

    /** Creates the trace of a thread. Its memory was taken. */
    private ThreadTrace newTrace(Thread thread) {
        boolean all = options.threads == RecorderOptions.THREADS_ALL && !(thread instanceof RecorderThread)
                && (options.virtualThreads || !VirtualThreads.contains(thread));
        ThreadTrace created = null;
        ThreadTrace other = null;
        try {
            created = new ThreadTrace(this, thread, nextIndex.getAndIncrement(), false, all);
            other = traces.putIfAbsent(thread, created);
            return other == null ? created : other;
        } finally {
            if (created == null || other != null) {
                rings.giveThread(null);
            }
        }
    }

    /**
     * Returns the trace of the calling thread, which is not the main thread.
     *
     * @return null if the thread is not recorded, or if there is no memory
     */
    private ThreadTrace currentTrace(Thread thread, boolean listening) {
        int threads = options.threads;
        if (!listening && (threads == RecorderOptions.THREADS_MAIN || thread instanceof RecorderThread
                || threads == RecorderOptions.THREADS_ALL && !options.virtualThreads
                && VirtualThreads.contains(thread))) {
            return null;
        }
        ThreadTrace trace = ownTrace.get();
        if (trace == null) {
            trace = traces.get(thread);
            if (trace == null && !listening && threads == RecorderOptions.THREADS_CHOSEN) {
                return null;
            }
            if (trace == null && !rings.takeThread()) {
                dropped.add(Dropped.RECORDS, 1);
                return null;
            }
            trace = trace == null ? newTrace(thread) : trace;
            ownTrace.set(trace);
        }
        return trace;
    }

    /**
     * Sets the listener that is called for every entry into an instrumented method.
     *
     * @param listener null for none, which is the default
     */
    public static void setMethodEnterListener(@Nullable MethodEnterListener listener) {
        enterListener = listener;
        Recorder r = current;
        if (r != null) {
            r.updateFastPath();
        }
    }

    /**
     * Sets the listener that is called for each stall.
     *
     * @param listener null for none, which is the default
     */
    public static void setStallListener(@Nullable StallListener listener) {
        stallListener = listener;
    }

    /**
     * Sets the listener that is called for each incident.
     *
     * @param listener null for none, which is the default
     */
    public static void setIncidentListener(@Nullable IncidentListener listener) {
        incidentListener = listener;
    }

    static IncidentListener incidentListener() {
        return incidentListener;
    }

    /**
     * Sets the listeners that make reports of stalls and incidents. They are called as the listeners of the app are,
     * before these, and do not replace them.
     *
     * @param stalls null for none, which is the default
     * @param incidents null for none, which is the default
     */
    public static void setReporter(@Nullable StallListener stalls, @Nullable IncidentListener incidents) {
        stallReporter = stalls;
        incidentReporter = incidents;
    }

    static StallListener stallReporter() {
        return stallReporter;
    }

    static IncidentListener incidentReporter() {
        return incidentReporter;
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
        synchronized (traces) {
            if (recordingNumber == 0) {
                recordingNumber = new SecureRandom().nextLong() | 1;
            }
            return recordingNumber;
        }
    }

    /**
     * Sets the listener that is called each time that frames were dropped.
     *
     * @param listener null for none, which is the default
     */
    public static void setDroppedFrameListener(@Nullable DroppedFrameListener listener) {
        droppedFrameListener = listener;
    }

    static DroppedFrameListener droppedFrameListener() {
        return droppedFrameListener;
    }

    /**
     * Delivers dropped frames to the app's {@link DroppedFrameListener}. Returns at once and never throws.
     *
     * @param frames what was dropped
     */
    public void framesDropped(DroppedFrames frames) {
        Sampler s = sampler;
        if (s != null && recording() && droppedFrameListener != null) {
            s.droppedFrames(frames);
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
     * @param detector the name of the detector
     * @param kind what was found, one of the kinds of trace/FORMAT.md
     * @return an object that collects what is known of it; it begins now, in the current scene
     */
    public Incident.Builder incident(String detector, String kind) {
        return new Incident.Builder(this, nextIncident.getAndIncrement(), detector, kind);
    }

    /** Queues an incident for the sampler. Never throws. */
    void report(Incident incident) {
        Sampler s = sampler;
        if (s != null && recording()) {
            s.incident(incident);
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

    /**
     * Returns the clocks and facts of the virtual machine that this recorder uses.
     *
     * @return never null
     */
    public Platform platform() {
        return options.platform;
    }

    /**
     * Sets the listener that is called when an activity gains or loses the focus.
     *
     * @param listener null for none, which is the default
     */
    public static void setFocusListener(@Nullable FocusListener listener) {
        Focus.listen(listener);
    }

    /**
     * Sets a listener as {@link #setFocusListener} does, for the runtime's own use: both are called, this one first.
     *
     * @param listener null for none
     */
    public static void setOwnFocusListener(@Nullable FocusListener listener) {
        Focus.listenFirst(listener);
    }

    /**
     * Sets the methods that are not recorded, instead of those of an earlier call or of
     * {@link RecorderOptions#gateFile}. May be called at any time on any thread, also before recording begins. Each
     * thread leaves the methods out from its next call on, or as soon as that does not split a call. The recording
     * says which methods were off when. Calls and time of these methods appear in their callers.
     *
     * @param ids IDs of methods, at most 60,000; others than 1 to 0xFFFFD are ignored
     * @param mappingDigest the digest of the mapping that the IDs are of, as {@link MappingInfo#digest} returns it
     * @return false, and nothing is changed, if the program was instrumented with another mapping
     */
    public static boolean setGate(int[] ids, String mappingDigest) {
        if (!MappingInfo.digest().equals(mappingDigest)) {
            return false;
        }
        gateFromOutside = ids.clone();
        Recorder r = current;
        if (r != null) {
            r.messageBegan();
        }
        return true;
    }

    static int[] gateFromOutside() {
        return gateFromOutside;
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

    /**
     * Returns the slow threshold of messages.
     *
     * @return milliseconds
     */
    public int slowMillis() {
        return options.slowMillis;
    }

    static int status() {
        return status;
    }

    static StallListener stallListener() {
        return stallListener;
    }

    /**
     * Records a call of i or o that the fast path did not handle.
     *
     * @param id the method's ID
     * @param bit {@link Ring#ENTRY} or 0
     */
    static void record(int id, long bit) {
        Recorder r = current;
        if (r == null) {
            r = startEarly();
        }
        if (r != null && status > 0) {
            try {
                r.put(id, bit);
            } catch (OutOfMemoryError e) {
                r.rings.memory.heapIsFull();
                r.dropped.add(Dropped.RECORDS, 1);
            }
        }
    }

    private void put(int id, long bit) {
        Thread thread = Thread.currentThread();
        MethodEnterListener listener = enterListener;
        ThreadTrace trace = mainTrace;
        if (thread != mainThread) {
            trace = currentTrace(thread, listener != null);
            if (trace == null) {
                return;
            }
        }
        if (trace.inListener || id < 1 || id > AppMethodBeat.METHOD_ID_DISPATCH) {
            return;
        }
        Ring ring = trace.ring();
        if (ring != null) {
            Gate.Request request = gateRequest;
            if (request != ring.applied) {
                Gate.apply(request, ring, trace == mainTrace ? placeholder : null, options.platform.nanoTime());
                if (trace == mainTrace) {
                    updateFastPath();
                }
            }
            char[] gate = ring.gate;
            int slot = gate != null && id < gate.length ? gate[id] : 0;
            if (slot == 0 || !(bit != 0 ? ring.dropsEntry(slot) : ring.dropsExit(slot))) {
                if (ticker.exact() || id == AppMethodBeat.METHOD_ID_DISPATCH) {
                    ticker.updateTime(ring);
                }
                ring.put(bit | (long) id << Ring.ID_SHIFT | ring.now());
            }
        } else if (trace.recorded() && recording()) {
            // Not because recording has been stopped meanwhile: then there is no ring either.
            trace.dropRecord();
        }
        if (listener != null && bit != 0) {
            notifyEntry(listener, trace, id);
        }
    }

    private void notifyEntry(MethodEnterListener listener, ThreadTrace trace, int id) {
        trace.inListener = true;
        try {
            listener.enter(id, trace.thread.getId());
        } catch (Throwable e) {
            listenerFailed(e);
        } finally {
            trace.inListener = false;
        }
    }

    RecorderOptions options() {
        return options;
    }

    ThreadTrace mainTrace() {
        return mainTrace;
    }

    Collection<ThreadTrace> traces() {
        return traces.values();
    }

    /** Removes the trace of a thread that has ended. */
    void forget(ThreadTrace trace) {
        if (traces.remove(trace.thread, trace)) {
            countDropped(trace);
            rings.giveThread(trace.existingRing());
        }
    }

    /**
     * Counts the records of a thread that never had a ring as dropped. If there is a ring, its first number says how
     * many were dropped before it. To be called once for each thread, when it records nothing any more.
     */
    void countDropped(ThreadTrace trace) {
        if (trace.existingRing() == null) {
            dropped.add(Dropped.RECORDS, trace.droppedRecords());
        }
    }

    /** Returns the trace of a thread, null if there is none. */
    ThreadTrace existingTrace(Thread thread) {
        return traces.get(thread);
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

    /** Updates the time of a ring to the exact one and returns it in nanoseconds. */
    long updateTime(Ring ring) {
        return ticker.updateTime(ring);
    }

    /**
     * Sets {@link AppMethodBeat#mode}, {@link AppMethodBeat#mainThread} and {@link AppMethodBeat#fast} by the current
     * state: they decide which calls are recorded and which way they take.
     */
    synchronized void updateFastPath() {
        if (current != this) {
            return;
        }
        AppMethodBeat.mainThread = wantedMainThread();
        AppMethodBeat.mode = wantedMode();
        // After the other two: a thread that reads this value must also read those.
        AppMethodBeat.fast = wantedFast();
    }

    private Thread wantedMainThread() {
        return status > 0 ? mainThread : null;
    }

    private int wantedMode() {
        return status <= 0 ? AppMethodBeat.OFF
                : enterListener == null && options.threads == RecorderOptions.THREADS_MAIN ? AppMethodBeat.MAIN_ONLY
                : AppMethodBeat.CALL_RECORDER;
    }

    private Ring wantedFast() {
        if (status <= 0 || enterListener != null) {
            return null;
        }
        Ring real = mainTrace.existingRing();
        return real == null || real.applied != gateRequest ? bare : ticker.running() ? real : placeholder;
    }

    /**
     * Calls {@link #updateFastPath} if such a call has failed before, because no stack was left. It takes no lock if
     * there is nothing to do.
     */
    void repairFastPath() {
        if (current == this && (AppMethodBeat.mode != wantedMode() || AppMethodBeat.fast != wantedFast()
                || AppMethodBeat.mainThread != wantedMainThread())) {
            updateFastPath();
        }
    }

    /** Returns the time now, or if recording was stopped, the last moment by which every exit was recorded. */
    long lastNanos() {
        // The clock is read first: recording may stop in between.
        long now = options.platform.nanoTime();
        long stop = stopNanos;
        return stop == 0 ? now : stop;
    }

    /** Returns how many records were put in total, without those of threads that were removed. */
    long recordCount() {
        long sum = 0;
        for (ThreadTrace t : traces.values()) {
            Ring r = t.existingRing();
            sum += r == null ? 0 : r.sequence();
        }
        return sum;
    }

    /**
     * Releases what the recorder holds since the first instrumented call, and switches recording off, as if
     * {@link #start} had not been called in time. For an app that knows early that it does not record. Does nothing if
     * {@link #start} was called before; {@link #start} may be called later. May be called on any thread at any time.
     */
    public static void disable() {
        while (!STARTING.compareAndSet(false, true)) {
            Thread.yield();
        }
        try {
            if (status == AppMethodBeat.STATUS_DEFAULT) {
                // No instrumented method was called. The first call must not begin to record.
                status = AppMethodBeat.STATUS_OUT_RELEASE;
                AppMethodBeat.mode = AppMethodBeat.OFF;
            }
            Recorder r = current;
            if (r != null) {
                r.releaseEarly();
            }
        } catch (Throwable e) {
            // No stack is left. The clock's thread releases it after some seconds.
        } finally {
            STARTING.set(false);
        }
    }

    /** Releases the ring and switches recording off if {@link #start} was not called in time. */
    void expire() {
        if (status != AppMethodBeat.STATUS_READY || untilExpiry() > 0 || !STARTING.compareAndSet(false, true)) {
            return;
        }
        try {
            releaseEarly();
        } finally {
            STARTING.set(false);
        }
    }

    private void releaseEarly() {
        if (status == AppMethodBeat.STATUS_READY && current == this) {
            status = AppMethodBeat.STATUS_EXPIRED_START;
            updateFastPath();
            ticker.stop();
            rings.giveRing(mainTrace.takeRing());
            current = null;
            status = AppMethodBeat.STATUS_OUT_RELEASE;
        }
    }

    /** Returns the nanoseconds until {@link #expire} has something to do. */
    long untilExpiry() {
        if (status != AppMethodBeat.STATUS_READY) {
            return Long.MAX_VALUE;
        }
        return createdNanos + EXPIRY_NANOS - options.platform.nanoTime();
    }

    /** Wakes the sampler, because a ring is getting full. */
    void wakeSampler() {
        Sampler s = sampler;
        if (s != null) {
            s.unpark();
        }
    }

    Dropped dropped() {
        return dropped;
    }

    /** Returns how many bytes of what was copied may wait for the writer. */
    long queueBytes() {
        return Math.min(QUEUE_BYTES, rings.memory.bytes() / 4);
    }

    /** Reports whether the writer has written all that was handed over to it. For tests. */
    boolean writerIsIdle() {
        Writer w = writer;
        return w != null && w.isIdle();
    }

    /** Publishes which methods are to be off. Each thread carries it out before its next record. */
    void request(Gate.Request request) {
        gateRequest = request;
        updateFastPath();
    }

    /** Returns the last request, null if there was none. */
    Gate.Request gateRequest() {
        return gateRequest;
    }

    /** Wakes the sampler, which measures how long the message runs. */
    void messageBegan() {
        Sampler s = sampler;
        if (s != null) {
            s.wake();
        }
    }

    /** Queues a stall that has ended for the sampler. */
    void stallEnded(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        Sampler s = sampler;
        if (s != null) {
            s.stallEnded(trace, message, before);
        }
    }

    void frame(FrameTiming timing) {
        Sampler s = sampler;
        if (s != null && recording()) {
            s.frame(timing);
        }
    }

    /** Ends the recording, because the bits of a time are full. */
    void timeIsOver(long tickNanos) {
        if (recording()) {
            options.platform.log("the recording ends here, and the program runs on: the times of records are full"
                    + " after 2^43 ticks of " + tickNanos + " ns; a longer tick makes recordings longer");
            stop();
        }
    }

    /**
     * Logs a failure of the recorder itself, only the first time: it may occur again with every message. If there are
     * too many, it turns recording off, and logs that with the first of them. Never throws:
     * the threads of the recorder must survive when there is no memory even for the line.
     */
    void failed(Throwable e) {
        try {
            Throwable first = failures.add(e, System.nanoTime());
            if (first != null && recording()) {
                stop();
                options.platform.log("recording is turned off and the program runs on, because the recorder has failed "
                        + Failures.TOO_MANY + " times in " + Failures.PERIOD_NANOS / 1000000000L
                        + " s; the first failure was: " + first);
            } else if (hasFailed.compareAndSet(false, true)) {
                options.platform.log("the recorder failed and continues: " + e);
            }
        } catch (Throwable again) {
            // The next failure is logged instead.
            hasFailed.set(false);
        }
    }

    /** Logs what a listener of the app has thrown, only the first time. Never throws. */
    void listenerFailed(Throwable e) {
        try {
            if (listenerHasFailed.compareAndSet(false, true)) {
                options.platform.log("a listener of the app failed, and recording continues: " + e);
            }
        } catch (Throwable again) {
            // As above.
        }
    }
}
