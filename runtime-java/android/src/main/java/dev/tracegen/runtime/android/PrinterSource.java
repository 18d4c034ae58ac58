package dev.tracegen.runtime.android;

import android.os.Looper;
import android.util.Printer;
import java.lang.ref.WeakReference;

/** Hears of messages as the looper's {@code Printer}, in front of the one that was there. */
final class PrinterSource extends DispatchSource {
    private final WeakReference<Looper> looper;
    private final LoopPrinter printer;

    private PrinterSource(Looper looper, LoopPrinter printer) {
        this.looper = new WeakReference<Looper>(looper);
        this.printer = printer;
    }

    /** Puts a printer of the monitor's into a looper. */
    static PrinterSource install(Looper looper, LooperMonitor monitor) {
        Printer origin = LooperInternals.printer(looper);
        if (origin instanceof LoopPrinter && ((LoopPrinter) origin).monitor == null) {
            // One of ours that only passes on: chains must not grow by it.
            origin = ((LoopPrinter) origin).origin;
        }
        LoopPrinter printer = new LoopPrinter(monitor, origin);
        looper.setMessageLogging(printer);
        return new PrinterSource(looper, printer);
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
        return LooperInternals.canReadPrinter();
    }

    @Override
    DispatchSource reinstall() {
        LooperMonitor monitor = printer.monitor;
        printer.monitor = null;
        Looper l = looper.get();
        return l == null ? this : install(l, monitor);
    }

    @Override
    void release() {
        printer.monitor = null;
        Looper l = looper.get();
        if (l != null && canReadCurrent() && current() == printer) {
            l.setMessageLogging(printer.origin);
        }
    }

    @Override
    boolean isFromOtherCopy(Object other) {
        return hasSameClassName(other, LoopPrinter.class);
    }

    @Override
    String kind() {
        return "printer";
    }

    /** The printer itself. Its name is kept by R8's rules: by it a copy from another class loader is known. */
    static final class LoopPrinter implements Printer {
        /** Null once it is replaced: others may hold it for ever. */
        volatile LooperMonitor monitor;

        final Printer origin;

        LoopPrinter(LooperMonitor monitor, Printer origin) {
            this.monitor = monitor;
            this.origin = origin;
        }

        /** Each line is judged by itself: others print what they like, and nothing says that lines come in pairs. */
        @Override
        public void println(String line) {
            char first = line == null || line.length() == 0 ? ' ' : line.charAt(0);
            LooperMonitor m = monitor;
            // The other printer's time is not the message's.
            if (m != null && first == '<') {
                m.end(null);
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
