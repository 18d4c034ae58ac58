package dev.tracegen.oracle;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Prints the samples that JFR took of one thread, or of all, while they ran Java code or a native method. A line for
 * each stack: how many samples have it, whether JFR cut it off, and its methods, the innermost first.
 */
public final class Samples {
    private Samples() {
    }

    /** Takes the recording and the name of the thread, which is empty for all. */
    public static void main(String[] args) throws IOException {
        Map<String, Integer> stacks = new HashMap<>();
        try (RecordingFile file = new RecordingFile(Paths.get(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                String type = event.getEventType().getName();
                if (!type.equals("jdk.ExecutionSample") && !type.equals("jdk.NativeMethodSample")) {
                    continue;
                }
                RecordedThread thread = event.getThread("sampledThread");
                RecordedStackTrace stack = event.getStackTrace();
                if (stack != null && thread != null
                        && (args[1].isEmpty() || args[1].equals(thread.getJavaName()))) {
                    stacks.merge(line(stack), 1, Integer::sum);
                }
            }
        }
        try (PrintWriter out = new PrintWriter(System.out)) {
            stacks.forEach((stack, count) -> out.println(count + "\t" + stack));
        }
    }

    private static String line(RecordedStackTrace stack) {
        StringBuilder line = new StringBuilder().append(stack.isTruncated());
        for (RecordedFrame frame : stack.getFrames()) {
            line.append('\t').append(frame.getMethod().getType().getName().replace('.', '/')).append(' ')
                    .append(frame.getMethod().getName()).append(' ').append(frame.getMethod().getDescriptor());
        }
        return line.toString();
    }
}
