import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.util.Printer;
import dev.tracegen.device.Device;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Starts a device, runs its main looper, and from another thread, one after the other, the proofs: the public methods
 * without parameters of the classes named on the command line. Prints a line for each, which the Go test reads.
 */
public final class Bench {
    static Device device;
    static boolean lockFree;

    /** Whether members that are not public API are denied, as on a device. */
    static boolean stock;
    static Handler main;

    /** An exception that a proof may throw out of the main looper, which goes on. */
    static final class Thrown extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** Arguments: the natives, the API level, {@code lock-free} or {@code list}, and the classes. */
    public static void main(final String[] args) throws Exception {
        lockFree = args[2].equals("lock-free");
        device = Device.boot(args[0], Integer.parseInt(args[1]), lockFree);
        stock = Boolean.getBoolean("device.denies");
        main = new Handler();
        Thread driver = new Thread("driver") {
            @Override
            public void run() {
                int failed = 0;
                for (int k = 3; k < args.length; k++) {
                    failed += proofsOf(args[k]);
                }
                System.out.flush();
                Runtime.getRuntime().halt(failed == 0 ? 0 : 1);
            }
        };
        driver.setDaemon(true);
        driver.start();
        for (;;) {
            try {
                Looper.loop();
            } catch (Thrown e) {
                // As apps do that want to survive every exception.
            }
        }
    }

    private static int proofsOf(String name) {
        int failed = 0;
        try {
            Class<?> type = Class.forName(name);
            List<Method> proofs = new ArrayList<Method>();
            for (Method m : type.getDeclaredMethods()) {
                if (Modifier.isPublic(m.getModifiers()) && m.getParameterTypes().length == 0) {
                    proofs.add(m);
                }
            }
            java.util.Collections.sort(proofs, new java.util.Comparator<Method>() {
                @Override
                public int compare(Method a, Method b) {
                    return a.getName().compareTo(b.getName());
                }
            });
            for (Method m : proofs) {
                failed += prove(type, m);
            }
            System.out.println("class " + name + " " + proofs.size());
        } catch (Exception e) {
            e.printStackTrace(System.out);
            failed++;
        }
        return failed;
    }

    private static int prove(Class<?> type, Method m) throws Exception {
        try {
            m.invoke(type.getDeclaredConstructor().newInstance());
            System.out.println("proof " + m.getName() + " ok");
            return 0;
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace(System.out);
            System.out.println("proof " + m.getName() + " FAILED: " + e.getCause());
            return 1;
        } finally {
            Looper.getMainLooper().setMessageLogging(null);
            drain();
        }
    }

    /** Reports whether runs of idle handlers are seen: the list of a lock-free queue has a lock that is denied. */
    static boolean seesIdleHandlers() {
        return !(lockFree && stock);
    }

    /** Prints what was seen of a kind of fact, for the table in the documents. */
    static void seen(String fact, String what) {
        System.out.println("seen: " + fact + ": " + what);
    }

    static void measured(String text) {
        System.out.println("measured: " + text);
    }

    static void check(boolean ok, String text) {
        if (!ok) {
            throw new AssertionError(text);
        }
    }

    static void equal(Object got, Object want, String what) {
        check(got == null ? want == null : got.equals(want), what + ": got " + got + ", want " + want);
    }

    /** Runs something as a message of the main looper and waits for it. */
    static void onMain(final Runnable r) throws Exception {
        on(main, r);
    }

    static void on(Handler handler, final Runnable r) throws Exception {
        final CountDownLatch done = new CountDownLatch(1);
        handler.post(new Runnable() {
            @Override
            public void run() {
                try {
                    r.run();
                } finally {
                    done.countDown();
                }
            }
        });
        await(done);
    }

    /** Waits until the threads of a recorder that was stopped have ended: until its recording is closed. */
    static void ended() throws Exception {
        settle();
        until("the recorder's threads end", new Condition() {
            @Override
            public boolean holds() {
                for (Thread t : Thread.getAllStackTraces().keySet()) {
                    if (t.getName().matches("tracegen-(setup|clock|sampler|writer|delivery)")) {
                        return false;
                    }
                }
                return true;
            }
        });
    }

    /** A condition that a proof waits for. */
    interface Condition {
        boolean holds() throws Exception;
    }

    static void until(String what, Condition c) throws Exception {
        long begin = System.nanoTime();
        while (!c.holds()) {
            check(System.nanoTime() - begin < 120000000000L, "not within two minutes: " + what);
            Thread.sleep(5);
        }
    }

    /**
     * Runs a message that stalls until a condition holds. A machine that is too busy to let the process run for half a
     * second makes it seem to have been stopped, and then the message is no stall.
     */
    static void stallUntil(String what, final Runnable stall, final Condition c) throws Exception {
        until(what, new Condition() {
            @Override
            public boolean holds() throws Exception {
                onMain(stall);
                for (int k = 0; k < 200 && !c.holds(); k++) {
                    Thread.sleep(20);
                }
                return c.holds();
            }
        });
    }

    static void await(CountDownLatch latch) throws Exception {
        check(latch.await(2, TimeUnit.MINUTES), "nothing happened for two minutes");
    }

    /** Sends one message and waits until the queue has run its idle handlers after it. */
    static void drain() throws Exception {
        drain(main);
    }

    static void drain(Handler handler) throws Exception {
        final CountDownLatch idle = new CountDownLatch(1);
        handler.post(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        idle.countDown();
                        return false;
                    }
                });
            }
        });
        await(idle);
    }

    /**
     * Waits until the runtime's own thread has done what was begun before, and the main looper what that thread posted:
     * a start, for instance.
     */
    static void settle() throws Exception {
        try {
            final CountDownLatch done = new CountDownLatch(1);
            Method run = Class.forName("dev.tracegen.runtime.android.Background").getDeclaredMethod("run",
                    Runnable.class);
            run.setAccessible(true);
            run.invoke(null, new Runnable() {
                @Override
                public void run() {
                    done.countDown();
                }
            });
            await(done);
        } catch (ClassNotFoundException e) {
            // The no-op has no thread.
        }
        drain();
    }

    static Object field(Object of, Class<?> type, String name) throws Exception {
        Field f = type.getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
    }

    static Printer printer() throws Exception {
        return (Printer) field(Looper.getMainLooper(), Looper.class, "mLogging");
    }

    static MessageQueue queue(Looper looper) throws Exception {
        return (MessageQueue) field(looper, Looper.class, "mQueue");
    }

    /** Collects garbage until an object is gone. */
    static boolean collected(java.lang.ref.WeakReference<?> ref) throws Exception {
        for (long begin = System.nanoTime(); ref.get() != null && System.nanoTime() - begin < 120000000000L;) {
            // Android's System.gc does nothing unless finalizers are run, too.
            Runtime.getRuntime().gc();
            Thread.sleep(20);
        }
        return ref.get() == null;
    }
}
