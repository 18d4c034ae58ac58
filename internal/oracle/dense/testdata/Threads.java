import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** 200 threads, all of which spend their time in one method. */
public final class Threads {
    private static long work(int seed) {
        long sum = seed;
        for (int k = 1; k < 200_000; k++) {
            sum = sum * 31 + (sum ^ k) % k;
        }
        return sum;
    }

    private static long step(int seed) {
        long sum = 0;
        for (int k = 0; k < 25; k++) {
            sum += work(seed + k);
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int n = 0; n < 200; n++) {
            int seed = n;
            Thread t = new Thread(() -> sum.addAndGet(step(seed)), "worker " + n);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println(sum);
    }
}
