package dev.tracegen.runtime.detector;

/** Reports the starts of an app that the test makes. */
final class Launches implements Startup.Source {
    /** Null while the detector is off. */
    Startup startup;

    @Override
    public void report(Startup to) {
        startup = to;
    }
}
