package dev.tracegen.runtime.android;

import android.os.Looper;
import android.util.Printer;
import java.lang.ref.WeakReference;

/**
 * Reports messages as the Looper's {@code Printer}, in front of the printer that was there. If that one cannot be
 * read, none is set: it could be one of other code, which would be lost.
 */
final class PrinterSource {
    private final WeakReference<Looper> looper;
    private final LoopPrinter printer;

    private PrinterSource(Looper looper, LoopPrinter printer) {
        this.looper = new WeakReference<Looper>(looper);
        this.printer = printer;
    }

    /** Sets the monitor's printer in a Looper, if that one's printer can be read. */
    static PrinterSource install(Looper looper, LooperMonitor monitor) {
        if (!LooperInternals.canReadPrinter()) {
            return new PrinterSource(looper, new LoopPrinter(monitor, null));
        }
        Printer origin = LooperInternals.printer(looper);
        if (origin instanceof LoopPrinter && ((LoopPrinter) origin).monitor == null) {
            // A released printer of this library. Skip it, so that the chain does not grow.
            origin = ((LoopPrinter) origin).origin;
        }
        LoopPrinter printer = new LoopPrinter(monitor, origin);
        looper.setMessageLogging(printer);
        return new PrinterSource(looper, printer);
    }

    /** Returns the printer that this source has installed. */
    Object installed() {
        return printer;
    }

    /** Returns the printer that is installed in the Looper now, null for none. */
    Object current() {
        Looper l = looper.get();
        return l == null ? null : LooperInternals.printer(l);
    }

    /** Reports whether {@link #current} can be read. */
    boolean canReadCurrent() {
        return LooperInternals.canReadPrinter();
    }

    /** Installs a new printer in front of the one that is installed now. */
    PrinterSource reinstall() {
        LooperMonitor monitor = printer.monitor;
        printer.monitor = null;
        Looper l = looper.get();
        return l == null ? this : install(l, monitor);
    }

    /**
     * Uninstalls the printer. If other code has installed one in front of it, it stays and only calls the next one.
     */
    void release() {
        printer.monitor = null;
        Looper l = looper.get();
        if (l != null && canReadCurrent() && current() == printer) {
            l.setMessageLogging(printer.origin);
        }
    }

    /**
     * Reports whether a printer belongs to a copy of this library from another class loader. Two copies would replace
     * each other for ever.
     */
    boolean isFromOtherCopy(Object other) {
        return other != null && other.getClass() != LoopPrinter.class
                && other.getClass().getName().equals(LoopPrinter.class.getName());
    }

    /** Returns {@code printer} or {@code none}. */
    String kind() {
        return canReadCurrent() ? "printer" : "none";
    }

    /**
     * The printer. R8 must keep its name: it identifies printers of a copy of this library from another class loader.
     */
    static final class LoopPrinter implements Printer {
        /** Null once the printer is replaced, because other code may keep a reference to it for ever. */
        volatile LooperMonitor monitor;

        final Printer origin;

        LoopPrinter(LooperMonitor monitor, Printer origin) {
            this.monitor = monitor;
            this.origin = origin;
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
}
