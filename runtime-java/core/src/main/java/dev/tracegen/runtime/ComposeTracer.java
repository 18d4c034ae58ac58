package dev.tracegen.runtime;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Takes the hook of Compose by which tracers learn which composables are executed, and notes that on the thread that
 * does so, see {@link Compositions}. Compose's compiler inserts the calls of the hook into each composable, behind what
 * decides whether it is skipped.
 *
 * <p>Compose is found by names, which the R8 rules in META-INF/proguard keep. A program without it, or with another
 * version that has no such hook, costs one look-up of a class. The tracer is a {@link Proxy}: a class that implements
 * Compose's interface would be a class without its supertype in every other program, which D8 warns about.
 *
 * <p>A tracer that was set before gets all calls, as if it were alone. One that is set later replaces this one; from
 * then on nothing is noted.
 */
final class ComposeTracer implements InvocationHandler {
    private static final String PACKAGE = "androidx.compose.runtime.";

    private static final AtomicBoolean TRIED = new AtomicBoolean();

    /** The tracer that was set before, null if there was none. */
    private final Object other;
    private final Method otherTraces;

    private ComposeTracer(Object other, Method otherTraces) {
        this.other = other;
        this.otherTraces = otherTraces;
    }

    /** Takes the hook, if the program has it. The first call alone does something. Never throws. */
    static void install() {
        if (TRIED.compareAndSet(false, true)) {
            set();
        }
    }

    /** As above, in each call. */
    static void set() {
        try {
            // The runtime is on the boot class path if an agent has brought it.
            ClassLoader own = ComposeTracer.class.getClassLoader();
            ClassLoader loader = own == null ? ClassLoader.getSystemClassLoader() : own;
            Class<?> type = Class.forName(PACKAGE + "CompositionTracer", false, loader);
            Object companion = Class.forName(PACKAGE + "Composer", false, loader).getField("Companion").get(null);
            Object tracer = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                    new ComposeTracer(current(type), type.getMethod("isTraceInProgress")));
            companion.getClass().getMethod("setTracer", type).invoke(companion, tracer);
        } catch (Throwable none) {
            // No Compose, or another version.
        }
    }

    /** Returns the tracer that is set, null if there is none, or if that is not known. */
    private static Object current(Class<?> type) {
        try {
            for (Field f : Class.forName(PACKAGE + "ComposerKt", true, type.getClassLoader()).getDeclaredFields()) {
                if (f.getType() == type) {
                    f.setAccessible(true);
                    return f.get(null);
                }
            }
        } catch (Throwable none) {
            // Another version.
        }
        return null;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        boolean begins = name.equals("traceEventStart");
        if (begins || name.equals("traceEventEnd")) {
            note(begins, args);
            if (others()) {
                method.invoke(other, args);
            }
            return null;
        }
        if (name.equals("isTraceInProgress")) {
            return thread() != null || others();
        }
        // Of Object.
        return name.equals("equals") ? (Object) (proxy == args[0])
                : name.equals("hashCode") ? (Object) System.identityHashCode(proxy) : "tracegen";
    }

    private boolean others() throws Exception {
        return other != null && (Boolean) otherTraces.invoke(other);
    }

    private static void note(boolean begins, Object[] args) {
        try {
            ThreadTrace trace = thread();
            if (trace == null) {
                return;
            }
            long now = Recorder.current.platform().nanoTime();
            if (begins) {
                trace.compositions().begin((String) args[3], (Integer) args[1], (Integer) args[2], now);
            } else if (trace.existingCompositions() != null) {
                trace.existingCompositions().end(now);
            }
        } catch (Throwable e) {
            // Most likely a stack overflow, or no memory. It is not noted, and the app goes on.
        }
    }

    /** Returns the trace of the calling thread, null if the thread is not recorded. */
    private static ThreadTrace thread() {
        Recorder r = Recorder.current;
        if (r == null || !r.recording()) {
            return null;
        }
        Thread thread = Thread.currentThread();
        ThreadTrace trace = r.threads.main();
        if (trace.thread != thread) {
            trace = r.threads.current(thread);
        }
        return trace != null && trace.recorded() ? trace : null;
    }
}
