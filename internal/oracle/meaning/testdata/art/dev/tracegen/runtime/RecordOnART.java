package dev.tracegen.runtime;

import java.io.File;
import java.util.Arrays;

/** Records all calls of the program that is named behind the file, as a JVM does by system properties. */
public final class RecordOnART {
    private RecordOnART() {
    }

    public static void main(String[] args) throws Exception {
        final Thread main = Thread.currentThread();
        Recorder r = Recorder.start(new RecorderOptions().output(new File(args[0])).set("gate", "off")
                .set("tick", "us").set("memory", "256M").set("ring", "4194304")
                .threads(RecorderOptions.THREADS_ALL).everyRecord(true).platform(new Host.EarlyPlatform() {
                    @Override
                    public Thread mainThread() {
                        return main;
                    }
                }));
        Class.forName(args[1]).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(args, 2, args.length));
        r.stop();
        r.awaitEnd(60000);
        System.exit(0);
    }
}
