package dev.tracegen.runtime;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Records what instrumented methods report, finds the messages that took too long, and writes recordings.
 *
 * <p>There is at most one at a time. The first call of an instrumented method makes one with the default options, so
 * that an app's start is recorded before any of its code can configure anything; {@link #start} takes it over. If that
 * is not called within 10 seconds, the ring is given back and all is off. On a plain JVM the property
 * {@code tracegen.output} takes the place of that call.
 */
public final class Recorder {
    /** How long the first records wait for {@link #start}. */
    private static final long EXPIRY_NANOS = 10000000000L;

    /** Other threads' rings are smaller than the main one's by this, or a server's would fill its memory. */
    private static final int OTHERS_SHARE = 8;

    private static final AtomicBoolean STARTING = new AtomicBoolean();
    private static final Object LOCK = new Object();

    private static volatile Recorder current;
    private static volatile int status = AppMethodBeat.STATUS_DEFAULT;
    private static volatile MethodEnterListener enterListener;
    private static volatile SlowMessageListener slowListener;

    private final Ticker ticker;
    private final Thread mainThread;
    private final ThreadTrace mainTrace;
    private final Map<Thread, ThreadTrace> traces = new ConcurrentHashMap<Thread, ThreadTrace>();
    private final ThreadLocal<ThreadTrace> mine = new ThreadLocal<ThreadTrace>();
    private final AtomicInteger nextIndex = new AtomicInteger();
    private final long madeNanos;
    private volatile RecorderOptions options;
    private volatile Platform platform;
    private volatile String scene;
    private volatile boolean foreground;

    private Recorder(RecorderOptions options) {
        this.options = options;
        this.platform = options.platform;
        Thread main = platform.mainThread();
        this.mainThread = main == null ? Thread.currentThread() : main;
        this.mainTrace = new ThreadTrace(this, mainThread, nextIndex.getAndIncrement(), true, true);
        this.traces.put(mainThread, mainTrace);
        this.ticker = new Ticker(this, platform, options.tickNanos, options.clockPeriodMillis);
        this.madeNanos = platform.nanoTime();
    }

    /**
     * Starts recording. What the main thread has recorded since the first instrumented call is kept if the ring's
     * size, the tick and the clock's period are the defaults. A recorder that runs is stopped first.
     *
     * @param options what to do; copied
     * @return the recorder
     */
    public static Recorder start(RecorderOptions options) {
        throw new UnsupportedOperationException();
    }

    /**
     * The recorder that there is.
     *
     * @return null if there is none
     */
    public static Recorder current() {
        return current;
    }

    /** Stops recording, writes what is left to be written, and closes the file. What the rings hold is kept. */
    public void stop() {
        throw new UnsupportedOperationException();
    }

    /**
     * A thread's trace. With {@link RecorderOptions#THREADS_CHOSEN}, this chooses it. May be called from any thread.
     *
     * @param thread the thread
     * @return the same object for the same thread
     */
    public ThreadTrace thread(Thread thread) {
        throw new UnsupportedOperationException();
    }

    /**
     * Who is to be told of every entry into an instrumented method.
     *
     * @param listener null for nobody, which is the default
     */
    public static void setMethodEnterListener(MethodEnterListener listener) {
        enterListener = listener;
    }

    /**
     * Who is to be told of slow messages.
     *
     * @param listener null for nobody, which is the default
     */
    public static void setSlowMessageListener(SlowMessageListener listener) {
        slowListener = listener;
    }

    /**
     * Who is to be told of activities that gain or lose the focus.
     *
     * @param listener null for nobody, which is the default
     */
    public static void setFocusListener(FocusListener listener) {
        Focus.listen(listener);
    }

    /**
     * Where the app is, for reports: a screen's name. If it is not told it is the class of the focused activity.
     *
     * @param name null for none
     */
    public void scene(String name) {
        scene = name;
    }

    /**
     * Whether the app is in the foreground, for reports.
     *
     * @param value false if not told
     */
    public void foreground(boolean value) {
        foreground = value;
    }

    static int status() {
        return status;
    }

    static void record(int id, long bit) {
    }

    RecorderOptions options() {
        return options;
    }

    Platform platform() {
        return platform;
    }

    boolean recording() {
        return status > 0 && current == this;
    }

    /** Moves the clock to the exact time, which it gives in nanoseconds. */
    long touch() {
        ticker.touch();
        return platform.nanoTime();
    }

    void arm() {
    }

    long recordCount() {
        return 0;
    }

    void expire() {
    }

    long untilExpiry() {
        return EXPIRY_NANOS;
    }

    Ring newRing(ThreadTrace trace) {
        return new Ring(trace.thread, ticker, trace.main ? options.ringRecords : Math.max(1024, options.ringRecords / OTHERS_SHARE));
    }

    void active() {
    }

    void slow(ThreadTrace trace, MessageRecord message, SlowFacts facts, List<MessageRecord> before) {
    }

    void frame(FrameTiming timing) {
    }

    void failed(Throwable e) {
    }
}
