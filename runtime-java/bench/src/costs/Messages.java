package costs;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.util.Printer;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.Arrays;

/**
 * Measures what a message of the main Looper costs: CPU time and allocation of the main thread. A handler sends itself
 * the next message. Arguments: the natives, and what is installed:
 * {@code none}; {@code printer}, which does nothing; {@code matrixPrinter}, {@code oursPrinter}.
 */
public final class Messages extends Handler {
    private static final int BATCH = 50000;
    private static final int BATCHES = 15;
    private static final int WARM = 8;

    private final String row;
    private final double[] nanos = new double[BATCHES];
    private final double[] bytes = new double[BATCHES];
    private int left;
    private int batch = -1;
    private long cpu;
    private long allocated;

    private Messages(String row) {
        this.row = row;
    }

    /** See the class. */
    public static void main(String[] args) throws Exception {
        Phone.boot(args[0]);
        install(args[1]);
        new Messages(args[1]).sendEmptyMessage(0);
        Looper.loop();
    }

    private static void install(String row) throws Exception {
        if (row.equals("printer")) {
            Looper.getMainLooper().setMessageLogging(new Printer() {
                @Override
                public void println(String line) {
                }
            });
        } else if (row.equals("matrixPrinter")) {
            Phone.startMatrix();
        } else if (row.startsWith("ours")) {
            if (!TracegenRuntime.start(new Phone.App(), new RecorderOptions())) {
                throw new IllegalStateException("not recording");
            }
            String source = dev.tracegen.runtime.android.LooperMonitor.of(Looper.getMainLooper()).source();
            if (!("ours" + source).equalsIgnoreCase(row)) {
                throw new IllegalStateException("the messages come from the " + source);
            }
        }
    }

    @Override
    public void handleMessage(Message message) {
        if (left-- > 0) {
            sendEmptyMessage(0);
            return;
        }
        if (batch >= 0) {
            nanos[batch] = (double) (Phone.cpuNanos() - cpu) / BATCH;
            bytes[batch] = (double) (Phone.allocatedBytes() - allocated) / BATCH;
        }
        if (++batch == BATCHES) {
            if (row.startsWith("ours")) {
                Phone.checkRecording();
            }
            Phone.print(row, median(nanos), "ns");
            Phone.print(row + ", allocated", median(bytes), "bytes");
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
        left = BATCH - 1;
        allocated = Phone.allocatedBytes();
        cpu = Phone.cpuNanos();
        sendEmptyMessage(0);
    }

    private static double median(double[] all) {
        double[] measured = Arrays.copyOfRange(all, WARM, all.length);
        Arrays.sort(measured);
        return measured[measured.length / 2];
    }
}
