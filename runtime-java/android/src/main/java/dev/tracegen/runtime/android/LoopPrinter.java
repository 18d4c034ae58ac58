package dev.tracegen.runtime.android;

import android.os.Looper;
import android.util.Printer;

/**
 * Reports messages as the Looper's {@code Printer}, in front of the printer that was there. R8 must keep its name: it
 * identifies printers of a copy of this library from another class loader.
 */
final class LoopPrinter implements Printer {
    /** Null once the printer is replaced, because other code may keep a reference to it for ever. */
    private volatile LooperMonitor monitor;
    private final Printer origin;

    private LoopPrinter(LooperMonitor monitor, Printer origin) {
        this.monitor = monitor;
        this.origin = origin;
    }

    /**
     * Sets the monitor's printer in a Looper. If that one's printer cannot be read, none is set: it could be one of
     * other code, which would be lost.
     */
    static LoopPrinter install(Looper looper, LooperMonitor monitor) {
        if (!LooperInternals.canReadPrinter()) {
            return new LoopPrinter(monitor, null);
        }
        Printer origin = LooperInternals.printer(looper);
        if (origin instanceof LoopPrinter && ((LoopPrinter) origin).monitor == null) {
            // A released printer of this library. Skip it, so that the chain does not grow.
            origin = ((LoopPrinter) origin).origin;
        }
        LoopPrinter printer = new LoopPrinter(monitor, origin);
        looper.setMessageLogging(printer);
        return printer;
    }

    /**
     * Uninstalls the printer. If other code has installed one in front of it, it stays and only calls the next one.
     *
     * @param looper null if it is gone
     */
    void release(Looper looper) {
        monitor = null;
        if (looper != null && LooperInternals.canReadPrinter() && LooperInternals.printer(looper) == this) {
            looper.setMessageLogging(origin);
        }
    }

    /**
     * Reports whether a printer belongs to a copy of this library from another class loader. Two copies would replace
     * each other for ever.
     */
    static boolean isFromOtherCopy(Object other) {
        return other != null && other.getClass() != LoopPrinter.class
                && other.getClass().getName().equals(LoopPrinter.class.getName());
    }

    /** Handles each line by itself: other code may print anything, and lines need not come in pairs. */
    @Override
    public void println(String line) {
        char first = line == null || line.length() == 0 ? ' ' : line.charAt(0);
        LooperMonitor m = monitor;
        // The time of the other printer does not count as the message's.
        if (m != null && first == '<') {
            m.end();
        }
        if (origin != null) {
            origin.println(line);
        }
        if (m != null && first == '>') {
            m.begin(line, false);
        }
    }
}
