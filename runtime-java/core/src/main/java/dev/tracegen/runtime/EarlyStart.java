package dev.tracegen.runtime;

import java.security.PrivilegedAction;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The recorder before {@link Recorder#start}. The first instrumented call creates it, so that the start of an app is
 * recorded before its code can configure anything. It expires if {@link Recorder#start} is not called in time.
 */
final class EarlyStart {
    /** How long the first records are kept until {@link Recorder#start} is called. */
    static final long EXPIRY_NANOS = 10000000000L;

    // The first call never waits for this lock: the app may hold any lock at that moment.
    private static final AtomicBoolean STARTING = new AtomicBoolean();

    /** Set while the system properties are read and from then on. */
    private static final AtomicBoolean READING = new AtomicBoolean();

    /** What the system properties say, null for nothing. Written before {@link #optionsRead}. */
    private static RecorderOptions options;
    private static volatile boolean optionsRead;

    private EarlyStart() {
    }

    /** Takes the lock under which recorders are created, and waits for it. */
    static void lock() {
        while (!STARTING.compareAndSet(false, true)) {
            Thread.yield();
        }
    }

    static void unlock() {
        STARTING.set(false);
    }

    /**
     * Creates the first recorder without waiting. Returns null if that is not possible now. The classes of the program
     * that call may be less than the recorder, where there is a security manager: neither this nor the threads that it
     * starts have their limits.
     */
    @SuppressWarnings("removal") // An import of this class would be a warning of javadoc, which fails a release.
    static Recorder begin() {
        return java.security.AccessController.doPrivileged(new PrivilegedAction<Recorder>() {
            @Override
            public Recorder run() {
                return create();
            }
        });
    }

    private static Recorder create() {
        if (!optionsRead && !readOptions() || !STARTING.compareAndSet(false, true)) {
            return null;
        }
        try {
            if (Recorder.current == null && Recorder.status == AppMethodBeat.STATUS_DEFAULT) {
                RecorderOptions fromProperties = options;
                Recorder r = new Recorder(fromProperties == null ? Recorder.withPlatform(new RecorderOptions())
                        : fromProperties);
                r.ticker().start();
                if (fromProperties != null) {
                    r.begin(null);
                } else {
                    Recorder.status = AppMethodBeat.STATUS_READY;
                    Recorder.current = r;
                    r.fastPath.update();
                }
            }
            return Recorder.current;
        } catch (Throwable e) {
            turnOff();
            return null;
        } finally {
            unlock();
        }
    }

    /**
     * Reads what the system properties say, once. It may log lines about them, so it does not happen under the lock:
     * while one thread reads, the calls of others are not recorded. Returns false if another thread reads or if that
     * is not possible.
     */
    private static boolean readOptions() {
        if (!READING.compareAndSet(false, true)) {
            return optionsRead;
        }
        try {
            options = Host.get().options();
            optionsRead = true;
        } catch (Throwable e) {
            turnOff();
        }
        return optionsRead;
    }

    /** Records nothing, because there is no memory or no thread left for the first recorder. The app goes on. */
    static void turnOff() {
        AppMethodBeat.mode = AppMethodBeat.OFF;
        Recorder.status = AppMethodBeat.STATUS_STOPPED;
    }

    /** See {@link Recorder#disable}. */
    static void disable() {
        lock();
        try {
            if (Recorder.status == AppMethodBeat.STATUS_DEFAULT) {
                // No instrumented method was called. The first call must not begin to record.
                Recorder.status = AppMethodBeat.STATUS_OUT_RELEASE;
                AppMethodBeat.mode = AppMethodBeat.OFF;
            }
            Recorder r = Recorder.current;
            if (r != null) {
                release(r);
            }
        } catch (Throwable e) {
            // No stack is left. The clock's thread releases it after some seconds.
        } finally {
            unlock();
        }
    }

    /** Releases the ring and switches recording off if {@link Recorder#start} was not called in time. */
    static void expire(Recorder r) {
        if (Recorder.status != AppMethodBeat.STATUS_READY || untilExpiry(r) > 0
                || !STARTING.compareAndSet(false, true)) {
            return;
        }
        try {
            release(r);
        } finally {
            unlock();
        }
    }

    private static void release(Recorder r) {
        if (Recorder.status == AppMethodBeat.STATUS_READY && Recorder.current == r) {
            Recorder.status = AppMethodBeat.STATUS_EXPIRED_START;
            r.fastPath.update();
            r.ticker().stop();
            r.rings().giveRing(r.threads.main().takeRing());
            Recorder.current = null;
            Recorder.status = AppMethodBeat.STATUS_OUT_RELEASE;
        }
    }

    /** Returns the nanoseconds until {@link #expire} has something to do. */
    static long untilExpiry(Recorder r) {
        if (Recorder.status != AppMethodBeat.STATUS_READY) {
            return Long.MAX_VALUE;
        }
        return r.firstNanos() + EXPIRY_NANOS - r.platform().nanoTime();
    }
}
