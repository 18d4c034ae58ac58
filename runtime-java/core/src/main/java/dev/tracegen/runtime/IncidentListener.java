package dev.tracegen.runtime;

/** Receives a call for every {@link Incident}. */
public interface IncidentListener {
    /**
     * Called on the thread that calls {@link StallListener}, under the same conditions. An incident that lasts is
     * delivered when it is found and, with the same number, when it has ended.
     *
     * @param incident the incident; immutable, may be kept
     */
    void incidentFound(Incident incident);
}
