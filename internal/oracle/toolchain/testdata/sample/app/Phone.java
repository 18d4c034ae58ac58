package app;

import android.app.Application;
import dev.tracegen.runtime.android.TracegenRuntime;

/** Starts the runtime as an app does on a device. It is not run here. */
public final class Phone extends Application {
    @Override
    public void onCreate() {
        super.onCreate();
        TracegenRuntime.start(this);
    }
}
