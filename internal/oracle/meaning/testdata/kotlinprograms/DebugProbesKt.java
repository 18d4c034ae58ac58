package kotlin.coroutines.jvm.internal;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import kotlin.coroutines.Continuation;

/**
 * What Kotlin's library and compiled code call for debuggers: it logs each resumption of a continuation of the
 * generated programs. It is in front of the library on the class path.
 */
public final class DebugProbesKt {
    private static final Map<Object, Integer> numbers = new IdentityHashMap<>();
    private static final List<String> log = new ArrayList<>();

    private DebugProbesKt() {
    }

    public static <T> Continuation<T> probeCoroutineCreated(Continuation<? super T> completion) {
        @SuppressWarnings("unchecked")
        Continuation<T> same = (Continuation<T>) completion;
        return same;
    }

    /** Is called right before a continuation's invokeSuspend. */
    public static void probeCoroutineResumed(Continuation<?> frame) {
        note("resumed", frame);
    }

    /** Is called when a continuation, and those of its callers that run, are suspended. */
    public static void probeCoroutineSuspended(Continuation<?> frame) {
    }

    private static void note(String what, Continuation<?> frame) {
        if (!frame.getClass().getName().startsWith("programs.")) {
            return;
        }
        // From the annotation that the compiler has put to the class.
        StackTraceElement source = ((BaseContinuationImpl) frame).getStackTraceElement();
        String name = source.getClassName() + "." + source.getMethodName();
        boolean lambda = frame instanceof SuspendLambda || frame instanceof RestrictedSuspendLambda;
        synchronized (log) {
            Integer number = numbers.get(frame);
            if (number == null) {
                number = numbers.size();
                numbers.put(frame, number);
            }
            log.add(what + " " + number + " " + name + " " + lambda + " " + System.nanoTime() + " "
                    + Thread.currentThread().getName().replace(' ', '_'));
        }
    }

    /** Prints the log. */
    public static void print() {
        synchronized (log) {
            for (String line : log) {
                System.out.println(line);
            }
        }
    }
}
