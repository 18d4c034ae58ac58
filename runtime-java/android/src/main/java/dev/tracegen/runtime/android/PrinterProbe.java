package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.util.Log;

/**
 * A message that finds out, by public API, whether its Looper has a printer, and sets one if it has none. A Looper
 * makes a text of each message for its printer, and of no message if it has none. So it calls {@link #toString} of
 * the message's callback before it runs the callback only if there is a printer. As this runs on the Looper's own
 * thread, where other code sets its printers too, none is lost.
 */
final class PrinterProbe implements Runnable {
    private final PrinterSource.LoopPrinter printer;
    private boolean described;
    private boolean repeated;

    PrinterProbe(PrinterSource.LoopPrinter printer) {
        this.printer = printer;
    }

    /** Called by the Looper for its printer. */
    @Override
    public String toString() {
        described = true;
        return "tracegen";
    }

    @Override
    public void run() {
        if (printer.monitor == null) {
            return;
        }
        Looper looper = Looper.myLooper();
        if (!described) {
            looper.setMessageLogging(printer);
            printer.set = true;
        } else if (!repeated) {
            // A released printer of this library removes itself when it is called for the first time. Look again.
            repeated = true;
            described = false;
            new Handler(looper).postAtFrontOfQueue(this);
        } else {
            Log.i(TracegenRuntime.TAG, "the Looper of " + looper.getThread().getName()
                    + " has a printer that cannot be read; it is left in place, and no messages are seen");
        }
    }
}
