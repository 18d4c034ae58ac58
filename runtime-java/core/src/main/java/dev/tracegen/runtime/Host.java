package dev.tracegen.runtime;

/**
 * What the machine that the recorder runs on adds to it before the program can configure anything. Android adds nothing
 * but its main thread; {@code tracegen-runtime.jar}, for JVMs, has a subclass, which is found by its name.
 */
class Host {
    private static final String JVM = "dev.tracegen.runtime.JvmHost";

    private static final class Holder {
        static final Host FOUND = find();
    }

    /** Returns the host of this process. */
    static Host get() {
        return Holder.FOUND;
    }

    private static Host find() {
        try {
            // ART has this name, too. An app that carries the jar for JVMs uses none of it.
            return isAndroid() ? new Host() : (Host) Class.forName(JVM).getDeclaredConstructor().newInstance();
        } catch (Throwable none) {
            return new Host();
        }
    }

    static boolean isAndroid() {
        return "Dalvik".equals(System.getProperty("java.vm.name"));
    }

    /** Returns the platform that is used until the program sets its own. */
    Platform platform() {
        return new EarlyPlatform();
    }

    /**
     * Returns the options with which the first instrumented call begins to record.
     *
     * @return null to wait for {@link Recorder#start}
     */
    RecorderOptions options() {
        return null;
    }

    /** Called when a recorder has begun that uses {@link #platform}. */
    void began() {
    }

    /**
     * Returns about how many nanoseconds the agent of {@code tracegen record} has taken to replace classes; 0 without
     * it, -1 where programs are not recorded to their end, so that what recording has cost them is not written.
     */
    long agentNanos() {
        return -1;
    }

    /** Returns the ID of this process for names of files, where {@code /proc} does not show it; below 0 if unknown. */
    int processId() {
        return -1;
    }

    /** Returns the name of the program, as options have it, for names of files; empty if unknown. */
    String programName(RecorderOptions options) {
        return "";
    }

    /** The platform of the first calls on Android, and of a core without the classes for JVMs. */
    static class EarlyPlatform extends Platform {
        @Override
        public Thread mainThread() {
            try {
                Object looper = Class.forName("android.os.Looper").getMethod("getMainLooper").invoke(null);
                return (Thread) looper.getClass().getMethod("getThread").invoke(looper);
            } catch (Throwable notAndroid) {
                return null;
            }
        }

        @Override
        public void log(String line) {
            System.err.println("tracegen: " + line);
        }
    }
}
