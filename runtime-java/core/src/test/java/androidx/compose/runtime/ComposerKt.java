package androidx.compose.runtime;

/** As Compose's: what the compiler's inserted calls call. */
public final class ComposerKt {
    private static CompositionTracer compositionTracer;

    private ComposerKt() {
    }

    static void set(CompositionTracer tracer) {
        compositionTracer = tracer;
    }

    public static CompositionTracer tracer() {
        return compositionTracer;
    }

    public static boolean isTraceInProgress() {
        return compositionTracer != null && compositionTracer.isTraceInProgress();
    }

    public static void traceEventStart(int key, int dirty1, int dirty2, String info) {
        if (compositionTracer != null) {
            compositionTracer.traceEventStart(key, dirty1, dirty2, info);
        }
    }

    public static void traceEventEnd() {
        if (compositionTracer != null) {
            compositionTracer.traceEventEnd();
        }
    }
}
