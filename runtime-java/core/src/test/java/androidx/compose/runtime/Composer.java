package androidx.compose.runtime;

/** As Compose's, as far as tracers need it. */
public interface Composer {
    Companion Companion = new Companion();

    /** As Kotlin's compiler makes a companion object. */
    final class Companion {
        private Companion() {
        }

        public void setTracer(CompositionTracer tracer) {
            ComposerKt.set(tracer);
        }
    }
}
