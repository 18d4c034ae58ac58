package dev.tracegen.runtime.detector;

import java.util.Map;

/** Reports the starts of an app that the test makes. */
final class Launches extends Startup.Source {
    /** Null while the detector is off. */
    Startup startup;

    /** What the system says of the last start. */
    Map<String, String> system;

    @Override
    protected void start(Startup to) {
        startup = to;
    }

    @Override
    protected void stop() {
        startup = null;
    }

    @Override
    protected String applicationBegin() {
        return "start-call";
    }

    @Override
    protected Map<String, String> system(long beginNanos) {
        return system;
    }
}
