package dev.tracegen.devicecheck;

import android.app.Application;
import dev.tracegen.runtime.android.TracegenRuntime;

/** Starts the recording. In the plain app, which is not instrumented, the no-op runtime does nothing. */
public class CheckApp extends Application {
    @Override
    public void onCreate() {
        super.onCreate();
        TracegenRuntime.start(this);
    }
}
