package dev.tracegen.runtime;

/** The listeners of the app and the runtime's own. They outlive a recorder. Null for none. */
final class Listeners {
    static volatile StallListener stall;
    static volatile IncidentListener incident;

    // They make reports, and are called before those of the app.
    static volatile StallListener stallReporter;
    static volatile IncidentListener incidentReporter;

    private Listeners() {
    }
}
