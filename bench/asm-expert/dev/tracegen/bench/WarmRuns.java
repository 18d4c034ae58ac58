package dev.tracegen.bench;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Locale;

/**
 * Runs a program several times in one process, as a daemon of a build system does, and prints the wall time and the CPU
 * time of the whole process for each run. Each run writes its outputs over those of the run before.
 *
 * <p>Arguments: the number of runs, the program's class, the program's arguments.
 */
public final class WarmRuns {
    private WarmRuns() {}

    public static void main(String[] args) throws Exception {
        Method program = Class.forName(args[1]).getMethod("main", String[].class);
        String[] own = Arrays.copyOfRange(args, 2, args.length);
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int run = 1; run <= Integer.parseInt(args[0]); run++) {
            long cpu = process.getProcessCpuTime();
            long start = System.nanoTime();
            program.invoke(null, (Object) own);
            double wall = (System.nanoTime() - start) / 1e9;
            System.out.printf(Locale.ROOT, "warm %d wall %.4f cpu %.4f%n", run, wall,
                    (process.getProcessCpuTime() - cpu) / 1e9);
        }
    }
}
