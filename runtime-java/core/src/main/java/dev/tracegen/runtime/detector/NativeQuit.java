package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.RecorderThread;
import dev.tracegen.runtime.ThreadStack;
import org.jspecify.annotations.Nullable;

/**
 * Notices SIGQUIT, by which the system asks for the stacks of all threads, and hands it on to ART's Signal Catcher or
 * to the handler that was there before. The main thread unblocks the signal, because the kernel prefers that thread.
 */
public final class NativeQuit extends Detector {
    /** The name of the detector. */
    public static final String NAME = "sigquit";

    /** How often the detector checks that its handler is still there. */
    private static final long LOOK_NANOS = 5000000000L;

    /** The thread that waits for signals. There is one as long as the process lives, once a detector was on. */
    private static Thread waiter;

    /** The detector that is on; null if none is. */
    private static volatile NativeQuit active;

    private final @Nullable QuitListener listener;
    private volatile Environment environment;

    /** The limit that was logged last; null for none. Used on the detectors' thread. */
    private String said;

    /**
     * Creates a detector that is off. It loads the native library when it is switched on, not before.
     *
     * @param listener is called for each signal; null for none
     */
    public NativeQuit(@Nullable QuitListener listener) {
        super(NAME);
        this.listener = listener;
    }

    @Override
    public @Nullable String unavailable() {
        return NativeLibrary.load();
    }

    @Override
    protected void start(final Environment e) {
        environment = e;
        said = null;
        active = this;
        boolean posted = e.loop.post(new Runnable() {
            @Override
            public void run() {
                install(e);
            }
        }, false);
        if (!posted) {
            throw new IllegalStateException("the main thread's Looper has ended");
        }
    }

    private void install(final Environment e) {
        if (active != this || environment != e) {
            return; // Switched off meanwhile.
        }
        final int state = NativeLibrary.quitInstall();
        if (state == NativeLibrary.QUIT_OK || state == NativeLibrary.QUIT_COVERED) {
            listen();
        }
        e.at(e.nanoTime(), new Runnable() {
            @Override
            public void run() {
                looked(e, state);
            }
        });
    }

    /** Says what keeps the detector from seeing signals, and looks again later. On the detectors' thread. */
    private void looked(final Environment e, int state) {
        if (state == NativeLibrary.QUIT_RESTORED) {
            e.recorder.platform().log("another library has taken away the handler of SIGQUIT of the detector sigquit, "
                    + "which has installed it again");
        }
        String limit = limit(state);
        if (limit != null && !limit.equals(said)) {
            e.recorder.platform().log("the detector sigquit: " + limit);
        }
        said = limit;
        e.limit(limit);
        if (state != NativeLibrary.QUIT_OK && state != NativeLibrary.QUIT_COVERED
                && state != NativeLibrary.QUIT_RESTORED) {
            return;
        }
        e.at(e.nanoTime() + LOOK_NANOS, new Runnable() {
            @Override
            public void run() {
                looked(e, NativeLibrary.quitLook());
            }
        });
    }

    private static @Nullable String limit(int state) {
        switch (state) {
            case NativeLibrary.QUIT_OK:
            case NativeLibrary.QUIT_RESTORED:
                return null;
            case NativeLibrary.QUIT_COVERED:
                return "another library has put its handler of SIGQUIT over ours, so that only signals that it passes "
                        + "on are seen";
            case NativeLibrary.QUIT_NO_CATCHER:
                return "nothing is seen, because this process has no thread \"Signal Catcher\"";
            default:
                return "nothing is seen, because the handler of SIGQUIT cannot be installed";
        }
    }

    private static synchronized void listen() {
        if (waiter != null) {
            return;
        }
        waiter = new RecorderThread(new Runnable() {
            @Override
            public void run() {
                while (true) {
                    long nanos = NativeLibrary.quitWait();
                    NativeQuit on = active;
                    if (nanos != 0 && on != null) {
                        on.signal(nanos);
                    }
                }
            }
        }, "tracegen-sigquit");
        waiter.start();
    }

    private void signal(long nanos) {
        try {
            if (listener != null && listener.quitSignal(nanos)) {
                return;
            }
            Environment e = environment;
            e.incident("sigquit").begin(nanos).end(e.nanoTime())
                    .stack(ThreadStack.of(e.loop.thread(), e.recorder.platform())).report();
        } catch (Throwable failure) {
            environment.recorder.platform().log("the detector sigquit could not report a signal: " + failure);
        }
    }

    @Override
    protected void stop() {
        active = null;
        // If the main thread never runs this, the handler goes on to hand the signal on.
        environment.loop.post(new Runnable() {
            @Override
            public void run() {
                if (active == null) {
                    NativeLibrary.quitRemove();
                }
            }
        }, false);
    }
}
