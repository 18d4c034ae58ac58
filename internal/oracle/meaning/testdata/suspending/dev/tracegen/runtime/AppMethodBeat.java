package dev.tracegen.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Checks, call by call, what instrumented code reports of coroutines, and prints counts at the end. A line that begins
 * with "wrong" is a report that contradicts another.
 */
public final class AppMethodBeat {
    private static final class Call {
        final int id;
        /** An instance belongs to it, so that it is known when it goes on. */
        boolean continued;

        Call(int id) {
            this.id = id;
        }
    }

    private static final class Calls {
        final ArrayDeque<Call> open = new ArrayDeque<>();
        /** The method that the next entry must be of, 0 for any. */
        int resumed;
    }

    private static final ThreadLocal<Calls> CALLS = ThreadLocal.withInitial(Calls::new);
    private static final Map<String, Integer> COUNTS = new ConcurrentSkipListMap<>();
    private static final Map<Integer, String> NAMES = new ConcurrentHashMap<>();

    static {
        try {
            for (String line : Files.readAllLines(Paths.get(System.getProperty("mapping")))) {
                if (!line.startsWith("#")) {
                    String[] parts = line.split(",", 3);
                    NAMES.put(Integer.parseInt(parts[0]), parts[2].replaceFirst(" \\(.*", "").replace(' ', '.'));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() ->
                COUNTS.forEach((what, times) -> System.out.println("reported " + times + " " + what))));
    }

    private AppMethodBeat() {
    }

    private static void count(String what) {
        COUNTS.merge(what, 1, Integer::sum);
    }

    public static void i(int id) {
        Calls calls = CALLS.get();
        Call call = new Call(id);
        if (calls.resumed != 0) {
            call.continued = calls.resumed == id;
            count(call.continued ? "resumed" : "wrong: resumes " + NAMES.get(calls.resumed) + ", enters " + NAMES.get(id));
            calls.resumed = 0;
        }
        calls.open.push(call);
    }

    public static void o(int id) {
        leave(id);
    }

    public static void o(Object result, int id) {
        Call call = leave(id);
        if (result instanceof Enum && "COROUTINE_SUSPENDED".equals(((Enum<?>) result).name())) {
            count(call != null && call.continued ? "suspended" : "alone " + NAMES.get(id));
        }
    }

    private static Call leave(int id) {
        Calls calls = CALLS.get();
        if (calls.resumed != 0) {
            count("wrong: resumes " + NAMES.get(calls.resumed) + ", leaves " + NAMES.get(id));
            calls.resumed = 0;
        }
        Call call = calls.open.poll();
        if (call == null || call.id != id) {
            count("wrong: leaves " + NAMES.get(id) + " in " + (call == null ? null : NAMES.get(call.id)));
        }
        return call;
    }

    public static void continues(Object continuation, int id) {
        Call call = CALLS.get().open.peek();
        if (call == null || call.id != id) {
            count("wrong: continues " + NAMES.get(id) + " in " + (call == null ? null : NAMES.get(call.id)));
            return;
        }
        call.continued = true;
        count("continues");
    }

    public static void starts(Object continuation, int id) {
        count("starts");
    }

    public static void resumes(Object continuation, int id) {
        CALLS.get().resumed = id;
    }
}
