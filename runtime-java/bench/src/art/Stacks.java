package art;

import java.util.Arrays;

/**
 * Measures what {@code Thread.getStackTrace} of another thread takes, and for how long it stops that thread: the thread
 * reads the clock all the time and notes the greatest step. Arguments: how many stacks are taken. It prints the least,
 * the lower quarter and the median in microseconds: the rest is of a machine that does something else.
 */
public final class Stacks {
    private static volatile long greatest;
    private static volatile boolean ended;

    private Stacks() {
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        for (final int depth : new int[] {10, 50, 200}) {
            ended = false;
            Thread busy = new Thread(null, new Runnable() {
                @Override
                public void run() {
                    descend(depth);
                }
            }, "busy", 1 << 20);
            busy.start();
            measure(busy, depth, n);
            ended = true;
            busy.join();
        }
    }

    private static void descend(int depth) {
        if (depth > 0) {
            descend(depth - 1);
            return;
        }
        long last = System.nanoTime();
        while (!ended) {
            long now = System.nanoTime();
            greatest = Math.max(greatest, now - last);
            last = now;
        }
    }

    private static void measure(Thread busy, int depth, int n) throws Exception {
        long[] took = new long[n];
        long[] stopped = new long[n];
        // The first ones load classes.
        for (int k = -n / 4; k < n; k++) {
            Thread.sleep(2);
            greatest = 0;
            long begin = System.nanoTime();
            int frames = busy.getStackTrace().length;
            long end = System.nanoTime();
            if (k >= 0) {
                took[k] = end - begin;
                Thread.sleep(1);
                stopped[k] = greatest;
                if (stopped[k] == 0) {
                    // It had no processor.
                    k--;
                }
            }
            if (frames > 0 && frames < depth) {
                throw new AssertionError(frames + " frames");
            }
        }
        print("took, depth " + depth, took);
        print("stopped, depth " + depth, stopped);
    }

    private static void print(String row, long[] nanos) {
        Arrays.sort(nanos);
        int n = nanos.length;
        System.out.println(row + "\t" + nanos[0] / 1000 + " " + nanos[n / 4] / 1000 + " " + nanos[n / 2] / 1000);
    }
}
