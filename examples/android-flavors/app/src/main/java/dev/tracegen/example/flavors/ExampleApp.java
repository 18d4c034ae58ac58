package dev.tracegen.example.flavors;

import android.app.Application;
import dev.tracegen.runtime.android.TracegenRuntime;

/** Starts the recording. In variants that are not instrumented, the no-op runtime does nothing. */
public class ExampleApp extends Application {
    @Override
    public void onCreate() {
        super.onCreate();
        TracegenRuntime.start(this);
    }
}
