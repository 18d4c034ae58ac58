package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.util.Printer;
import java.lang.ref.WeakReference;

/**
 * Reports messages as the Looper's {@code Printer}, in front of the printer that was there. If that one cannot be
 * read, the printer is set only if {@link PrinterProbe} finds that there is none.
 */
final class PrinterSource extends DispatchSource {
    private final WeakReference<Looper> looper;
    private final LoopPrinter printer;
    private final boolean readable;

    private PrinterSource(Looper looper, LoopPrinter printer, boolean readable) {
        this.looper = new WeakReference<Looper>(looper);
        this.printer = printer;
        this.readable = readable;
    }

    /**
     * Sets the monitor's printer in a Looper.
     *
     * @param hiddenApi whether the printer that is there may be read
     */
    static PrinterSource install(Looper looper, LooperMonitor monitor, boolean hiddenApi) {
        if (!hiddenApi || !LooperInternals.canReadPrinter()) {
            LoopPrinter printer = new LoopPrinter(monitor, null, false);
            new Handler(looper).postAtFrontOfQueue(new PrinterProbe(printer));
            return new PrinterSource(looper, printer, false);
        }
        Printer origin = LooperInternals.printer(looper);
        if (origin instanceof LoopPrinter && ((LoopPrinter) origin).monitor == null) {
            // A released printer of this library. Skip it, so that the chain does not grow.
            origin = ((LoopPrinter) origin).origin;
        }
        LoopPrinter printer = new LoopPrinter(monitor, origin, true);
        looper.setMessageLogging(printer);
        return new PrinterSource(looper, printer, true);
    }

    @Override
    Object installed() {
        return printer;
    }

    @Override
    Object current() {
        Looper l = looper.get();
        return l == null ? null : LooperInternals.printer(l);
    }

    @Override
    boolean canReadCurrent() {
        return readable;
    }

    @Override
    DispatchSource reinstall() {
        LooperMonitor monitor = printer.monitor;
        printer.monitor = null;
        Looper l = looper.get();
        return l == null ? this : install(l, monitor, true);
    }

    @Override
    void release() {
        printer.monitor = null;
        Looper l = looper.get();
        if (l != null && readable && current() == printer) {
            l.setMessageLogging(printer.origin);
        }
    }

    @Override
    boolean isFromOtherCopy(Object other) {
        return hasSameClassName(other, LoopPrinter.class);
    }

    @Override
    String kind() {
        return printer.set ? "printer" : "none";
    }

    /**
     * The printer. R8 must keep its name: it identifies printers of a copy of this library from another class loader.
     */
    static final class LoopPrinter implements Printer {
        /** Null once the printer is replaced, because other code may keep a reference to it for ever. */
        volatile LooperMonitor monitor;

        /** Whether it was set in the Looper. */
        volatile boolean set;

        final Printer origin;
        private boolean removes;

        /**
         * Creates a printer.
         *
         * @param set whether it is set in the Looper next, and by code that can also read which printer is set
         */
        LoopPrinter(LooperMonitor monitor, Printer origin, boolean set) {
            this.monitor = monitor;
            this.origin = origin;
            this.set = set;
            this.removes = !set;
        }

        /** Handles each line by itself: other code may print anything, and lines need not come in pairs. */
        @Override
        public void println(String line) {
            char first = line == null || line.length() == 0 ? ' ' : line.charAt(0);
            LooperMonitor m = monitor;
            // The time of the other printer does not count as the message's.
            if (m != null && first == '<') {
                m.end(null);
            }
            if (origin != null) {
                origin.println(line);
            }
            if (m != null && first == '>') {
                m.begin(line, false);
            }
            if (m == null && removes && first == '>') {
                removes = false;
                remove();
            }
        }

        /**
         * Removes itself from a Looper whose printer cannot be read, once it is released. If the Looper itself has
         * called it, it is the one that is set; if other code has, that code's printer is.
         */
        private static void remove() {
            StackTraceElement[] stack = new Throwable().getStackTrace();
            int k = 0;
            while (k < stack.length && stack[k].getClassName().equals(LoopPrinter.class.getName())) {
                k++;
            }
            Looper looper = Looper.myLooper();
            if (looper != null && k < stack.length && stack[k].getClassName().equals(Looper.class.getName())) {
                looper.setMessageLogging(null);
            }
        }
    }
}
