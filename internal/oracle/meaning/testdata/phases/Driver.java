import java.io.FileOutputStream;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * Works and hangs by turns, as a random number generator says, until it is killed. It appends to a file, without a
 * buffer, what it begins (+) and what it has ended (-), each with the time by System.nanoTime. The arguments are the file
 * and the seed.
 */
public class Driver {
    static final Object LOCK = new Object();
    static volatile long sum;
    static FileOutputStream log;

    static void say(char what, String phase) throws Exception {
        log.write((what + phase + " " + System.nanoTime() + "\n").getBytes("US-ASCII"));
    }

    static void works(int n) {
        for (int k = 0; k < n; k++) {
            adds(k);
        }
    }

    static void adds(int k) {
        sum += k;
    }

    static void sleeps(int millis) throws Exception {
        Thread.sleep(millis);
    }

    static void waits(int millis) throws Exception {
        Object o = new Object();
        synchronized (o) {
            o.wait(millis);
        }
    }

    static void spins(int millis) {
        long end = System.nanoTime() + millis * 1000000L;
        while (System.nanoTime() < end) {
            sum++;
        }
    }

    static void locks(int millis) throws Exception {
        CountDownLatch kept = new CountDownLatch(1);
        Thread t = new Thread(() -> keeps(kept, millis));
        t.setDaemon(true);
        t.start();
        kept.await();
        synchronized (LOCK) {
            sum++;
        }
    }

    static void keeps(CountDownLatch kept, int millis) {
        synchronized (LOCK) {
            kept.countDown();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void throwsDeep(int depth, int millis) throws Exception {
        if (depth > 0) {
            throwsDeep(depth - 1, millis);
        }
        Thread.sleep(millis);
        throw new Exception("expected");
    }

    static void phase(Random random) throws Exception {
        int millis = random.nextInt(10) == 0 ? 1200 : random.nextInt(400);
        switch (random.nextInt(7)) {
        case 0:
            say('+', "sleeps");
            sleeps(millis);
            say('-', "sleeps");
            break;
        case 1:
            say('+', "waits");
            waits(millis);
            say('-', "waits");
            break;
        case 2:
            say('+', "spins");
            spins(millis);
            say('-', "spins");
            break;
        case 3:
            say('+', "locks");
            locks(millis);
            say('-', "locks");
            break;
        case 4:
            say('+', "throwsDeep");
            try {
                throwsDeep(random.nextInt(5), millis / 4);
            } catch (Exception e) {
                sum++;
            }
            say('-', "throwsDeep");
            break;
        default:
            say('+', "works");
            works(random.nextInt(2000000));
            say('-', "works");
        }
    }

    public static void main(String[] args) throws Exception {
        log = new FileOutputStream(args[0]);
        Random random = new Random(Long.parseLong(args[1]));
        System.out.println("ready");
        while (true) {
            phase(random);
        }
    }
}
