import android.os.Handler;
import android.os.Looper;
import android.util.Printer;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.LooperMonitor;
import java.net.URL;
import java.net.URLClassLoader;

/** What happens if other code sets the looper's printer, as WebView and other SDKs do. */
public final class TheftProofs {
    /** Counts lines, and passes them on to another printer if it has one. */
    private static class Thief implements Printer {
        final Printer next;
        volatile int lines;

        Thief(Printer next) {
            this.next = next;
        }

        @Override
        public void println(String line) {
            lines++;
            if (next != null) {
                next.println(line);
            }
        }
    }

    private static LooperMonitor monitor(MonitorProofs.Log log) {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), MonitorProofs.options());
        monitor.add(log);
        return monitor;
    }

    private static int told(MonitorProofs.Log log) {
        return log.count("-" + Handler.class.getName() + " null 77");
    }

    private static void send() throws Exception {
        Bench.main.sendEmptyMessage(77);
        Bench.drain();
    }

    public void aStolenPrinterIsWonBack() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        Thief first = new Thief(null);
        Looper.getMainLooper().setMessageLogging(first);
        LooperMonitor monitor = monitor(log);
        send();
        Bench.equal(told(log), 1, "told before the theft");
        Bench.check(first.lines > 0, "the printer that was there is not passed on to");
        Thief thief = new Thief(null);
        Looper.getMainLooper().setMessageLogging(thief);
        int messages = 0;
        for (; monitor.reinstalls() == 0 && messages < 100; messages++) {
            Bench.drain();
        }
        Bench.equal(monitor.reinstalls(), 1, "won back");
        int before = told(log);
        int lines = thief.lines;
        send();
        Bench.equal(told(log), before + 1, "told after it was won back");
        Bench.check(thief.lines > lines, "the thief is not passed on to");
        Looper.getMainLooper().setMessageLogging(null);
        for (int k = 0; monitor.reinstalls() == 1 && k < 100; k++) {
            Bench.drain();
        }
        Bench.equal(monitor.reinstalls(), 2, "won back from nobody");
        monitor.release();
        Bench.measured("a stolen printer: won back after " + messages + " idle times");
    }

    public void fault19ThePeriodStaysAsItIs() throws Exception {
        // BlockCanaryX doubles its period with each theft: 21 thefts would make 35 minutes of one of 1 ms.
        win(1, 21);
        Bench.measured("a period of 300 ms: a theft is undone after " + win(300, 1) + " ms");
    }

    /** Replaces the printer and waits until ours is back; returns how long the last time took, in milliseconds. */
    private static long win(int period, int thefts) throws Exception {
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(),
                new RecorderOptions().set("check", String.valueOf(period)));
        long millis = 0;
        for (int theft = 1; theft <= thefts; theft++) {
            Looper.getMainLooper().setMessageLogging(new Thief(null));
            long begin = System.nanoTime();
            millis = 0;
            for (; monitor.reinstalls() < theft && millis < 120000; millis = (System.nanoTime() - begin) / 1000000) {
                Bench.drain();
                Thread.sleep(period / 30);
            }
            Bench.equal(monitor.reinstalls(), theft, "won back");
        }
        monitor.release();
        return millis;
    }

    public void fault13ChainsDoNotGrowByThefts() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        LooperMonitor monitor = monitor(log);
        Thief last = null;
        for (int k = 0; k < 1000; k++) {
            last = new Thief(null);
            Looper.getMainLooper().setMessageLogging(last);
            for (int j = 0; monitor.reinstalls() == k && j < 100; j++) {
                Bench.drain();
            }
        }
        Bench.equal(monitor.reinstalls(), 1000, "won back");
        last.lines = 0;
        int depth = depth();
        int before = told(log);
        send();
        Bench.equal(told(log), before + 1, "told");
        monitor.release();
        Bench.check(depth <= 2, "the chain has " + depth + " printers");
        Bench.measured("after 1000 thefts the chain has " + depth + " printers");
    }

    public void fault13WhoPassesOnIsLeftAlone() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        LooperMonitor monitor = monitor(log);
        // Matrix's monitor puts itself in front whenever it is not there, and passes lines on to the printer that it
        // finds.
        Thief matrix = null;
        for (int k = 0; k < 1000; k++) {
            if (Bench.printer() != matrix) {
                matrix = new Thief(Bench.printer());
                Looper.getMainLooper().setMessageLogging(matrix);
            }
            send();
        }
        Bench.equal(monitor.reinstalls(), 0, "won back");
        Bench.equal(told(log), 1000, "told, each once");
        Bench.equal(depth(), 2, "the chain");
        Bench.check(Bench.printer() == matrix, "it is not in front any more");
        monitor.release();
        send();
        Bench.equal(told(log), 1000, "told after release");
    }

    /** Passes lines on only while that is switched on. */
    private static final class Gate extends Thief {
        volatile boolean shut;

        Gate(Printer next) {
            super(next);
        }

        @Override
        public void println(String line) {
            if (!shut) {
                super.println(line);
            }
        }
    }

    public void fault13WhoPassesOnLateIsNotToldTwice() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        LooperMonitor monitor = monitor(log);
        Gate gate = new Gate(Bench.printer());
        gate.shut = true;
        Looper.getMainLooper().setMessageLogging(gate);
        for (int k = 0; monitor.reinstalls() == 0 && k < 100; k++) {
            Bench.drain();
        }
        gate.shut = false;
        Bench.drain();
        int before = log.lines.size();
        send();
        Bench.equal(told(log), 1, "told");
        Bench.equal(log.lines.size(), before + 4, "starts and ends of two messages");
        monitor.release();
    }

    public void fault13ChainsDoNotGrowByWhoPutsBackWhatWas() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        LooperMonitor monitor = monitor(log);
        for (int k = 0; k < 100; k++) {
            Printer before = Bench.printer();
            Looper.getMainLooper().setMessageLogging(new Thief(null));
            for (int j = 0; monitor.reinstalls() == 2 * k && j < 100; j++) {
                Bench.drain();
            }
            // It does not notice that the printer that it replaced has another one by now.
            Looper.getMainLooper().setMessageLogging(before);
            for (int j = 0; monitor.reinstalls() == 2 * k + 1 && j < 100; j++) {
                Bench.drain();
            }
        }
        Bench.equal(monitor.reinstalls(), 200, "won back");
        send();
        Bench.equal(told(log), 1, "told");
        Bench.equal(depth(), 1, "the chain");
        monitor.release();
    }

    /** Returns the number of printers in the chain. */
    private static int depth() throws Exception {
        int depth = 0;
        for (Object p = Bench.printer(); p != null; depth++) {
            p = p instanceof Thief ? ((Thief) p).next : Bench.field(p, p.getClass(), "origin");
        }
        return depth;
    }

    public void anotherClassLoadersCopyIsLeftAlone() throws Exception {
        MonitorProofs.Log log = new MonitorProofs.Log();
        LooperMonitor ours = monitor(log);
        // Their monitor finds no printer, and so passes lines on to none.
        Looper.getMainLooper().setMessageLogging(null);
        Object theirs = copy();
        Printer front = Bench.printer();
        Bench.check(front != null && front.getClass() != Class.forName(front.getClass().getName()),
                "no copy is in front");
        for (int k = 0; k < 100; k++) {
            Bench.drain();
        }
        Bench.check(Bench.printer() == front, "the copies fight");
        Bench.equal(ours.reinstalls(), 0, "won back from the copy");
        theirs.getClass().getMethod("release").invoke(theirs);
        for (int k = 0; ours.reinstalls() == 0 && k < 100; k++) {
            Bench.drain();
        }
        send();
        Bench.equal(told(log), 1, "told after the copy has gone");
        ours.release();
    }

    /** A monitor of another copy of the library. */
    private static Object copy() throws Exception {
        String name = LooperMonitor.class.getName();
        RecorderOptions o = MonitorProofs.options();
        return loader(name.substring(0, name.lastIndexOf('.')), LooperMonitor.class).loadClass(name)
                .getMethod("of", Looper.class, RecorderOptions.class).invoke(null, Looper.getMainLooper(), o);
    }

    /** A loader that has the classes whose names begin so for itself; one of them says where they are. */
    static ClassLoader loader(final String own, Class<?> one) throws Exception {
        ClassLoader others = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String n) throws ClassNotFoundException {
                if (n.startsWith(own)) {
                    throw new ClassNotFoundException(n);
                }
                return TheftProofs.class.getClassLoader().loadClass(n);
            }
        };
        if (Device.ART) {
            return (ClassLoader) Class.forName("dalvik.system.PathClassLoader")
                    .getConstructor(String.class, ClassLoader.class)
                    .newInstance(System.getProperty("java.class.path"), others);
        }
        URL library = one.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {library}, others);
    }

    public void releaseGivesThePrinterBack() throws Exception {
        Thief first = new Thief(null);
        Looper.getMainLooper().setMessageLogging(first);
        LooperMonitor monitor = monitor(new MonitorProofs.Log());
        Bench.check(Bench.printer() != first, "not watched");
        monitor.release();
        Bench.check(Bench.printer() == first, "after release there is " + Bench.printer());
    }
}
