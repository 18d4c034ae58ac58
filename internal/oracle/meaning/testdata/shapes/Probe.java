// release: 8
/** Prints results, and marks which scenario comes next. */
public final class Probe {
    private Probe() {
    }

    /** Every event from here to the next mark belongs to the scenario. */
    public static void mark(String scenario) {
        System.out.println("== " + scenario);
    }

    /** Prints a result; of an exception also where it came from, line by line. */
    public static void out(Object o) {
        System.out.println(o);
        if (o instanceof Throwable) {
            frames((Throwable) o);
        }
    }

    private static void frames(Throwable t) {
        for (StackTraceElement e : t.getStackTrace()) {
            if (e.getFileName() != null && !e.getClassName().startsWith("java.")
                    && !e.getClassName().startsWith("jdk.")) {
                System.out.println("\tat " + e.getClassName() + "." + e.getMethodName() + ":" + e.getLineNumber());
            }
        }
        for (Throwable s : t.getSuppressed()) {
            System.out.println("\tsuppressed " + s);
        }
        if (t.getCause() != null) {
            System.out.println("\tcaused by " + t.getCause());
        }
    }
}
