package app;

import java.util.Random;

/** Work of random depth that stays in a random method for a while. It says in a diary where it goes. */
public final class Maze {
    /** A listener that is called before a call begins and after it has ended. */
    public interface Diary {
        void before(String method);

        void after(String method);
    }

    private final Random random;
    private final Diary diary;

    public Maze(Random random, Diary diary) {
        this.random = random;
        this.diary = diary;
    }

    /** Goes so deep, stays there for some milliseconds, and returns. */
    public void walk(int depth, long millis) throws Exception {
        int way = random.nextInt(4);
        diary.before("abcd".substring(way, way + 1));
        if (way == 0) {
            a(depth, millis);
        } else if (way == 1) {
            b(depth, millis);
        } else if (way == 2) {
            c(depth, millis);
        } else {
            d(depth, millis);
        }
        diary.after("abcd".substring(way, way + 1));
    }

    private void a(int depth, long millis) throws Exception {
        if (depth > 0) {
            walk(depth - 1, millis);
        } else {
            Thread.sleep(millis);
        }
    }

    private void b(int depth, long millis) throws Exception {
        if (depth > 0) {
            walk(depth - 1, millis / 2);
            walk(depth - 1, millis / 2);
        } else {
            synchronized (this) {
                wait(Math.max(1, millis));
            }
        }
    }

    private void c(int depth, long millis) throws Exception {
        Thread.sleep(random.nextInt(3));
        if (depth > 0) {
            walk(depth - 1, millis);
        } else {
            java.util.concurrent.locks.LockSupport.parkNanos(millis * 1000000L);
        }
    }

    private void d(int depth, long millis) throws Exception {
        if (depth > 0) {
            walk(depth - 1, millis);
        } else {
            for (long begin = System.nanoTime(); System.nanoTime() - begin < millis * 1000000L;) {
                Thread.sleep(Math.max(1, millis / 10));
            }
        }
    }
}
