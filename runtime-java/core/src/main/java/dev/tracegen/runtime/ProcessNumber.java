package dev.tracegen.runtime;

import java.io.File;
import java.util.Random;

/** The number of this process, for names of files. */
final class ProcessNumber {
    private ProcessNumber() {
    }

    /**
     * Returns the process's ID. Where it is unknown, it returns a random number.
     */
    static int get() {
        try {
            // A link to the directory of the process, on Linux and Android.
            return Integer.parseInt(new File("/proc/self").getCanonicalFile().getName());
        } catch (Exception e) {
            // Another system.
        }
        int id = Host.get().processId();
        return id >= 0 ? id : 1 + new Random().nextInt(1 << 22);
    }
}
