package dev.tracegen.runtime.android;

import android.content.Context;
import android.util.Log;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Anr;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Detectors;
import dev.tracegen.runtime.detector.Frames;
import dev.tracegen.runtime.detector.NativeQuit;
import dev.tracegen.runtime.detector.NativeTouch;
import dev.tracegen.runtime.detector.Startup;
import dev.tracegen.runtime.detector.SyncBarrier;
import dev.tracegen.runtime.detector.Watchdog;

/**
 * Creates the detectors by their names. To add a detector, add a case below, its name to {@link Detectors#NAMES}, and
 * its settings to the table of options ({@code OptionTable}).
 */
final class DetectorTable {
    private DetectorTable() {
    }

    private static Detector create(String name, Session session, Context context, RecorderOptions options) {
        switch (name) {
            case "sync-barrier":
                return new SyncBarrier(options);
            case "watchdog":
                return new Watchdog(options);
            case "anr":
                Anr anr = Anr.create(options, new ErrorState(context));
                session.anr(anr);
                return anr;
            // Behind anr, which confirms what a signal means while it is on.
            case "sigquit":
                return new NativeQuit(session.anr());
            case "native-touch":
                return new NativeTouch(options);
            case "frames":
                return new Frames(session.frameTimes(), options.number("frames.dropped"));
            case "startup":
                return new Startup(session.activities(), options.number("startup.slow-cold"),
                        options.number("startup.slow-warm"), options.number("startup.slow-hot"));
            default:
                throw new IllegalArgumentException("there is no such detector");
        }
    }

    /** Adds all detectors. One that cannot be created is logged and not added. */
    static void addTo(Detectors detectors, Session session, Context context, RecorderOptions options) {
        for (String name : Detectors.NAMES) {
            try {
                detectors.add(create(name, session, context, options));
            } catch (Throwable failure) {
                Log.w(TracegenRuntime.TAG, "there is no detector " + name + ", because it cannot be created: "
                        + failure);
            }
        }
    }
}
