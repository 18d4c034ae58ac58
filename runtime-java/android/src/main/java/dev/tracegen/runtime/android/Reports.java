package dev.tracegen.runtime.android;

import android.content.Context;
import android.util.Log;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.File;

/**
 * Reports stalls and incidents of a session. The library {@code tracegen-runtime-report} has the subclass, which is
 * found by its name. An app without that library reports nothing.
 */
abstract class Reports {
    private static final String LIBRARY = "dev.tracegen.runtime.android.Reporting";

    /**
     * Reads the settings of the collector, and changes the configuration by them. Never throws.
     *
     * @return null if nothing is to be reported
     */
    static Reports prepare(Context context, Session session, RecorderOptions config, String process) {
        String address = config.get("upload");
        if (address.length() == 0 || address.equals("none")) {
            return null;
        }
        Reports r;
        try {
            r = (Reports) Class.forName(LIBRARY).getDeclaredConstructor().newInstance();
        } catch (Throwable e) {
            Log.w(TracegenRuntime.TAG, "nothing is reported, because the app has no tracegen-runtime-report");
            return null;
        }
        try {
            return r.open(context, session, config, process) ? r : null;
        } catch (Throwable e) {
            Log.w(TracegenRuntime.TAG, "nothing is reported", e);
            return null;
        }
    }

    /** As {@link #prepare}. Returns false if nothing is to be reported. */
    abstract boolean open(Context context, Session session, RecorderOptions config, String process);

    /**
     * Begins to report.
     *
     * @param r the recorder that has started; null if recording is switched off by the collector, and then only newer
     *     settings are fetched
     * @param recordings the directory of the recordings; null if none are written
     */
    abstract void begin(Recorder r, File recordings);

    /**
     * Ends sending. Returns at once. What the recorder still delivers is written, for the next session sends it:
     * detectors report something when they end. The next session removes the reporter.
     */
    abstract void stop();
}
