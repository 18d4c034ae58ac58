// release: 8
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads that end by a throw, wait for each other, and are interrupted. Only the sums are compared. */
public final class Threads {
    private static int counter;

    static synchronized void add(int n) {
        counter += n;
    }

    static int work(int n) {
        if (n % 7 == 0) {
            throw new IllegalArgumentException("seven");
        }
        add(n);
        return n > 0 ? work(n - 1) : 0;
    }

    static void dies() {
        throw new ThreadDeath();
    }

    static void waits(Object lock) throws InterruptedException {
        synchronized (lock) {
            while (true) {
                lock.wait();
            }
        }
    }

    static Thread start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setUncaughtExceptionHandler((thread, e) -> add(e instanceof ThreadDeath ? 1000 : 1));
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        Probe.mark("threads");
        List<Thread> all = new ArrayList<>();
        for (int k = 0; k < 20; k++) {
            int n = k;
            all.add(start("worker " + k, () -> work(n)));
        }
        all.add(start("dying", Threads::dies));
        Object lock = new Object();
        Thread waiting = start("waiting", () -> {
            try {
                waits(lock);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        waiting.interrupt();
        all.add(waiting);
        for (Thread t : all) {
            t.join();
        }
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Integer>> results = new ArrayList<>();
        for (int k = 0; k < 50; k++) {
            int n = k;
            results.add(pool.submit((Callable<Integer>) () -> work(n)));
        }
        int failed = 0;
        for (Future<Integer> f : results) {
            try {
                f.get();
            } catch (ExecutionException e) {
                failed++;
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        Probe.out(counter + " " + failed);
        Probe.mark("done");
    }
}
