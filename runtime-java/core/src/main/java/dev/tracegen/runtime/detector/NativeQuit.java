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

    /** The thread that waits for signals. There is one as long as the process lives, once a detector was on. */
    private static Thread waiter;

    /** The detector that is on; null if none is. */
    private static volatile NativeQuit active;

    private final @Nullable QuitListener listener;
    private volatile Environment environment;

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

    private void install(Environment e) {
        if (active != this || environment != e) {
            return; // Switched off meanwhile.
        }
        int state = NativeLibrary.quitInstall();
        if (state != NativeLibrary.QUIT_OK && state != NativeLibrary.QUIT_COVERED) {
            e.recorder.platform().log("the detector sigquit does nothing: " + (state == NativeLibrary.QUIT_NO_CATCHER
                    ? "this process has no thread \"Signal Catcher\"" : "the handler cannot be installed"));
            return;
        }
        if (state == NativeLibrary.QUIT_COVERED) {
            e.recorder.platform().log("another library has put its handler of SIGQUIT over that of the detector "
                    + "sigquit, which sees the signals that it passes on");
        }
        listen();
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
