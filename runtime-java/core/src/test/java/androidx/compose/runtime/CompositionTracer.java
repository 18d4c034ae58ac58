package androidx.compose.runtime;

/** As Compose's. */
public interface CompositionTracer {
    void traceEventStart(int key, int dirty1, int dirty2, String info);

    void traceEventEnd();

    boolean isTraceInProgress();
}
