package costs;

import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;

/**
 * Measures what the start costs the main thread of a process that has just begun, where nothing is compiled and no
 * class is loaded. Arguments: the natives, and {@code ours} or {@code matrix}.
 */
public final class Start {
    private static long cpu;
    private static long wall;
    private static long allocated;

    private Start() {
    }

    /** See the class. */
    public static void main(final String[] args) throws Exception {
        Phone.boot(args[0]);
        Phone.onMain(new Phone.Work() {
            @Override
            public void run() {
                if (args[1].equals("ours")) {
                    ours();
                } else {
                    matrix();
                }
            }
        });
    }

    private static void ours() {
        Phone.App app = new Phone.App();
        begin();
        end("warm up");
        begin();
        dev.tracegen.runtime.AppMethodBeat.i(1);
        end("first call");
        begin();
        boolean ok = TracegenRuntime.start(app, new RecorderOptions());
        end("start");
        if (!ok) {
            throw new IllegalStateException("not recording");
        }
        TracegenRuntime.stop();
        begin();
        TracegenRuntime.start(app, new RecorderOptions());
        end("start, a second time");
    }

    private static void matrix() {
        begin();
        end("warm up");
        begin();
        com.tencent.matrix.trace.core.AppMethodBeat.i(1);
        end("Matrix, first call");
        begin();
        com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStart();
        end("Matrix, onStart");
    }

    private static void begin() {
        allocated = Phone.allocatedBytes();
        wall = System.nanoTime();
        cpu = Phone.cpuNanos();
    }

    private static void end(String row) {
        long c = Phone.cpuNanos() - cpu;
        long w = System.nanoTime() - wall;
        long bytes = Phone.allocatedBytes() - allocated;
        if (!row.equals("warm up")) {
            Phone.print(row + ", CPU", c / 1e6, "ms");
            Phone.print(row + ", elapsed", w / 1e6, "ms");
            Phone.print(row + ", allocated", bytes / 1024.0, "KB");
        }
    }
}
