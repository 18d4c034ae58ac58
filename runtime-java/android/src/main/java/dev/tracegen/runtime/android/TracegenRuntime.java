package dev.tracegen.runtime.android;

import android.content.Context;
import android.os.Looper;
import android.util.Log;
import dev.tracegen.runtime.RecorderOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops recording in an app. One call in {@code Application.attachBaseContext}, after the call of
 * {@code super}, or in {@code onCreate} is enough:
 *
 * <pre>
 *   import dev.tracegen.runtime.android.TracegenRuntime;
 *   ...
 *   TracegenRuntime.start(this);
 * </pre>
 *
 * <p>Nothing here throws, waits, or reads or writes a file on the calling thread. Failures are logged under the tag
 * {@code tracegen}, and the app goes on.
 */
public final class TracegenRuntime {
    static final String TAG = "tracegen";

    /** The name of the file of options in the assets and on the class path. */
    public static final String FILE = "tracegen-runtime.properties";

    /** The session that was started last and not stopped, null for none. No caller ever waits for a lock. */
    private static final AtomicReference<Session> CURRENT = new AtomicReference<Session>();

    private TracegenRuntime() {
    }

    /**
     * Reads the options of the app's file {@link #FILE}: from the assets, or from the class path if the assets have
     * none, so that a build can change them without a change of code.
     *
     * @param context any Context of the app; null to read only the class path
     * @return the defaults if there is no file
     */
    public static RecorderOptions options(@Nullable Context context) {
        RecorderOptions options = new RecorderOptions();
        try (InputStream in = open(context)) {
            if (in == null) {
                return options;
            }
            Properties p = new Properties();
            p.load(in);
            return options.apply(p);
        } catch (IOException e) {
            Log.w(TAG, FILE + ": cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            Log.w(TAG, FILE + ": is not a properties file: " + e.getMessage());
        }
        return options;
    }

    private static InputStream open(Context context) {
        try {
            if (context != null) {
                return context.getAssets().open(FILE);
            }
        } catch (Exception e) {
            // The assets do not have it.
        }
        return TracegenRuntime.class.getResourceAsStream("/" + FILE);
    }

    /**
     * Starts recording as {@code tracegen-runtime.properties} says. The file is read on another thread. Until then
     * the records of the main thread are kept in memory. A recorder that runs is stopped first.
     *
     * @param context any Context of the app; in {@code attachBaseContext} the Application itself
     * @return true if recording will start, unless the file switches it off; a failure is logged
     */
    public static boolean start(Context context) {
        return begin(context, null);
    }

    /**
     * Starts recording. Files are opened on another thread. Until then the records of the main thread are kept in
     * memory. A recorder that runs is stopped first.
     *
     * @param context any Context of the app; in {@code attachBaseContext} the Application itself
     * @param config the configuration, which must not be changed afterwards; {@link #options} returns that
     *     of the file, for changes in code, but reads the file on the calling thread
     * @return true if recording will start, false if it is disabled; a failure is logged
     */
    public static boolean start(Context context, RecorderOptions config) {
        return begin(context, config);
    }

    private static boolean begin(Context context, RecorderOptions config) {
        try {
            if (config != null && !config.flag("enabled")) {
                stop();
                Session.disable(config);
                return false;
            }
            Session session = new Session(context, config);
            Session before = CURRENT.getAndSet(session);
            if (before != null) {
                before.stop();
            }
            session.begin();
            return true;
        } catch (Throwable e) {
            Log.w(TAG, "cannot record", e);
            return false;
        }
    }

    /**
     * Stops recording and restores the Loopers. The rest of the recording is written and its file is closed on another
     * thread. May be called on any thread, also by a listener or an IdleHandler.
     */
    public static void stop() {
        Session session = CURRENT.getAndSet(null);
        if (session != null) {
            session.stop();
        }
    }

    /**
     * Watches another Looper too, now or as soon as recording has started. The instrumented methods of its thread are
     * recorded if the option {@code threads} is {@code chosen} or {@code all}. Watching it twice has no effect. To
     * listen to the Looper yourself, call {@link LooperMonitor#of(Looper)}.
     *
     * @return false if recording was not started, or if it was stopped
     */
    public static boolean watch(Looper looper) {
        Session session = CURRENT.get();
        return session != null && session.watch(looper);
    }

    /**
     * Switches a detector on or off, now or as soon as recording has started. Returns at once. The next start of a
     * recording goes by its configuration again.
     *
     * @return false if recording was not started, if it was stopped, or if there is no detector of that name
     */
    public static boolean detector(String name, boolean on) {
        Session session = CURRENT.get();
        return session != null && session.detector(name, on);
    }

    /** Ends a session that found out that recording is disabled, unless another was started meanwhile. */
    static void ended(Session session) {
        CURRENT.compareAndSet(session, null);
    }
}
