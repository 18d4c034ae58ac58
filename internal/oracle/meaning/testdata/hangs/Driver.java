import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Hangs in ways that the arguments name, after the first one: on the main thread, or if the first argument is pool, each
 * on a thread of a pool. Right before each it prints its name and the time by System.nanoTime. If the property exit is
 * set, another thread calls System.exit as soon as it can read a byte, and prints the time right before.
 */
public class Driver {
    static final class Left { }
    static final class Right { }
    static final class Kept { }

    static final Left LEFT = new Left();
    static final Right RIGHT = new Right();
    static final Kept KEPT = new Kept();
    static volatile long sum;

    static void said(String what) {
        System.out.println(what + " " + System.nanoTime());
    }

    static void sleeps() throws Exception {
        Thread.sleep(600000);
    }

    static void spins() {
        while (true) {
            sum++;
        }
    }

    static void locks() {
        synchronized (KEPT) {
            sum++;
        }
    }

    static void keeps(CountDownLatch kept) throws Exception {
        synchronized (KEPT) {
            kept.countDown();
            Thread.sleep(600000);
        }
    }

    static void crosses() {
        synchronized (RIGHT) {
            sum++;
        }
    }

    static void crossesBack(CountDownLatch crossed) {
        synchronized (RIGHT) {
            crossed.countDown();
            synchronized (LEFT) {
                sum++;
            }
        }
    }

    static void waits() throws Exception {
        Object o = new Object();
        synchronized (o) {
            o.wait(600000);
        }
    }

    static void parks() {
        while (true) {
            LockSupport.park();
        }
    }

    static void gets(FutureTask<Object> never) throws Exception {
        never.get();
    }

    static void reads(InputStream in) throws Exception {
        in.read();
    }

    static void hang(String kind) throws Exception {
        final CountDownLatch ready = new CountDownLatch(1);
        switch (kind) {
        case "sleeps":
            said(kind);
            sleeps();
            break;
        case "spins":
            said(kind);
            spins();
            break;
        case "locks":
            start("keeper", () -> keeps(ready));
            ready.await();
            said(kind);
            locks();
            break;
        case "crosses":
            synchronized (LEFT) {
                start("opposite", () -> crossesBack(ready));
                ready.await();
                said(kind);
                crosses();
            }
            break;
        case "waits":
            said(kind);
            waits();
            break;
        case "parks":
            said(kind);
            parks();
            break;
        case "gets":
            FutureTask<Object> never = new FutureTask<>(() -> null);
            said(kind);
            gets(never);
            break;
        case "reads":
            ServerSocket server = new ServerSocket(0);
            Socket s = new Socket("localhost", server.getLocalPort());
            said(kind);
            reads(s.getInputStream());
            break;
        default:
            said(kind);
            reads(System.in);
        }
    }

    interface Work {
        void run() throws Exception;
    }

    static void start(String name, Work work) {
        Thread t = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
    }

    static void exits() throws Exception {
        System.in.read();
        said("exit");
        System.exit(0);
    }

    public static void main(String[] args) throws Exception {
        if (Boolean.getBoolean("exit")) {
            start("exit", () -> exits());
        }
        if (!args[0].equals("pool")) {
            hang(args[1]);
        }
        ThreadFactory named = r -> new Thread(r, "worker");
        ExecutorService pool = Executors.newCachedThreadPool(named);
        for (int k = 1; k < args.length; k++) {
            String kind = args[k];
            pool.execute(() -> {
                try {
                    hang(kind);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }
}
