package dev.tracegen.runtime;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;

/** What a JVM adds to the recorder: its management beans, the system properties, and the end of the program. */
final class JvmHost extends Host {
    /** How long the exit of the program waits until the recording is written. */
    private static final long EXIT_TIMEOUT_MILLIS = 20000;

    private final AtomicBoolean onExit = new AtomicBoolean();

    @Override
    Platform platform() {
        return new JvmPlatform();
    }

    @Override
    RecorderOptions options() {
        return JvmMode.options();
    }

    /**
     * Finishes the recording when the program ends: after its last thread, by System.exit, or by a signal. Also one
     * that was stopped just before.
     */
    @Override
    void began() {
        if (!onExit.compareAndSet(false, true)) {
            return;
        }
        try {
            Runtime.getRuntime().addShutdownHook(new RecorderThread(new Runnable() {
                @Override
                public void run() {
                    finish(Recorder.current());
                }
            }, "tracegen-exit"));
        } catch (IllegalStateException e) {
            // The program is about to end.
        }
    }

    private static void finish(Recorder recorder) {
        if (recorder == null) {
            return;
        }
        recorder.stop();
        try {
            recorder.awaitEnd(EXIT_TIMEOUT_MILLIS);
        } catch (InterruptedException e) {
            // The program is to end without the rest.
        }
    }

    @Override
    long agentNanos() {
        try {
            // The agent's archive is on the boot class path, as the runtime is.
            return (Long) Class.forName("dev.tracegen.agent.Agent", false, null).getMethod("nanos").invoke(null);
        } catch (Throwable noAgent) {
            return 0;
        }
    }

    @Override
    int processId() {
        try {
            String name = ManagementFactory.getRuntimeMXBean().getName();
            return Integer.parseInt(name.substring(0, name.indexOf('@')));
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    String programName(RecorderOptions options) {
        String command = options.meta.get("sun.java.command");
        return command == null ? "" : Command.name(command);
    }
}
