package dev.tracegen.runtime;

import java.io.File;
import java.util.Random;

/** The number of this process, for names of files. */
final class ProcessNumber {
    private ProcessNumber() {
    }

    /**
     * Returns the process's ID. Where there is no way to find it that works on Android and on Java 8, it returns a
     * random number.
     */
    static int get() {
        try {
            // A link to the directory of the process, on Linux and Android.
            return Integer.parseInt(new File("/proc/self").getCanonicalFile().getName());
        } catch (Exception e) {
            // Another system.
        }
        try {
            Object bean = Class.forName("java.lang.management.ManagementFactory").getMethod("getRuntimeMXBean")
                    .invoke(null);
            String name = (String) Class.forName("java.lang.management.RuntimeMXBean").getMethod("getName")
                    .invoke(bean);
            return Integer.parseInt(name.substring(0, name.indexOf('@')));
        } catch (Throwable e) {
            return 1 + new Random().nextInt(1 << 22);
        }
    }
}
