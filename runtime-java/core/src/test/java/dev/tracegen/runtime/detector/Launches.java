package dev.tracegen.runtime.detector;

/** Reports the starts of an app that the test makes. */
final class Launches implements Startup.Source {
    /** Null while the detector is off. */
    Startup startup;

    @Override
    public void start(Startup to) {
        startup = to;
    }

    @Override
    public void stop() {
        startup = null;
    }
}
