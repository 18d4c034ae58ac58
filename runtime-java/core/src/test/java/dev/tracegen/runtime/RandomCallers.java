package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Two threads that make random calls, in each other, while a test changes which of them are recorded. */
final class RandomCallers {
    private final int methods;
    private final Thread[] threads = new Thread[2];
    private volatile boolean done;

    /**
     * Starts the threads.
     *
     * @param methods the calls are of the methods 1 to this
     */
    RandomCallers(int methods) {
        this.methods = methods;
        for (int k = 0; k < threads.length; k++) {
            final Random random = new Random(k);
            threads[k] = new Thread() {
                @Override
                public void run() {
                    callAll(random);
                }
            };
            threads[k].start();
        }
    }

    private void callAll(Random random) {
        int[] path = new int[30];
        int at = 0;
        for (int n = 0; !done || at > 0; n++) {
            if (!done && (at == 0 || at < path.length && random.nextBoolean())) {
                path[at] = 1 + random.nextInt(methods);
                call(path[at++]);
            } else if (at > 0) {
                call(-path[--at]);
            }
            if (n % 1000 == 0) {
                LockSupport.parkNanos(1000000L);
            }
        }
    }

    /** Enters the methods, and leaves those whose ID is less than 0. */
    static void call(int... ids) {
        for (int id : ids) {
            if (id > 0) {
                AppMethodBeat.i(id);
            } else {
                AppMethodBeat.o(-id);
            }
        }
    }

    /** Returns random methods, at least one. */
    int[] someOf(Random random) {
        int[] ids = new int[1 + random.nextInt(methods)];
        for (int k = 0; k < ids.length; k++) {
            ids[k] = 1 + random.nextInt(methods);
        }
        return ids;
    }

    /** Reports whether both threads have carried out the last request of the gate. */
    boolean follow(Recorder recorder) {
        for (Thread t : threads) {
            Ring ring = recorder.threads.of(t).existingRing();
            if (ring == null || ring.applied != recorder.fastPath.gateRequest()) {
                return false;
            }
        }
        return true;
    }

    /** Ends the threads, each when its calls have ended. */
    void end() throws InterruptedException {
        done = true;
        for (Thread t : threads) {
            t.join();
        }
    }

    /** Fails unless each recorded call of the threads has its entry and its exit, and no record is missing. */
    static void assertWhole(Path file) throws Exception {
        for (int thread = 1; thread <= 2; thread++) {
            List<String> open = new ArrayList<String>();
            String all = WrittenChunks.records(file, thread);
            assertFalse(all.contains("!"), "records were lost");
            for (String r : all.split(" ")) {
                if (r.startsWith("+")) {
                    open.add(r.substring(1));
                } else {
                    assertTrue(open.size() > 0, "an exit too much");
                    assertEquals(open.remove(open.size() - 1), r.substring(1));
                }
            }
            assertEquals("[]", open.toString());
        }
    }
}
