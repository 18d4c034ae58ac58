package dev.tracegen.agent;

import java.io.File;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Replaces class files by those that tracegen has rewritten.
 *
 * <p>A class file is replaced if its name, its size and its CRC-32 are those of an original. So the program keeps its
 * jars, its class path and its class loaders, and a class that was found in a nested jar, or was unpacked from one, is
 * replaced like any other. A class file that differs from the original is left alone and counted.
 *
 * <p>The archive of the agent is on the boot class path, so that a security manager has no say about its files.
 */
public final class Agent implements ClassFileTransformer {
    /** A class that takes longer has waited for a processor, or for the disk. */
    private static final long MOST_NANOS = 1000000;

    private static final AtomicLong NANOS = new AtomicLong();

    private final RewrittenClasses classes;
    private final Status status;

    private Agent(RewrittenClasses classes, Status status) {
        this.classes = classes;
        this.status = status;
    }

    /**
     * Called by the JVM before the program's main method. If the files cannot be read, the program runs without being
     * recorded.
     *
     * @param statusFile the path of the status file, which names the file of rewritten classes
     */
    public static void premain(String statusFile, Instrumentation instrumentation) {
        try {
            Status status = new Status(new File(statusFile));
            RewrittenClasses classes = new RewrittenClasses(new File(status.classesFile()));
            instrumentation.addTransformer(new Agent(classes, status));
            status.started();
        } catch (Throwable e) {
            System.err.println("tracegen: the program is not recorded: " + statusFile + ": " + e);
        }
    }

    /**
     * Returns about how much CPU time the agent has taken to replace classes. The time of a thread would be exact, but
     * to ask for it loads classes while the program loads its own.
     */
    public static long nanos() {
        return NANOS.get();
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain,
            byte[] original) {
        if (loader == null || name == null) {
            return null; // the JDK's, or a class without a name, which no file holds
        }
        long begin = System.nanoTime();
        byte[] rewritten = rewritten(name, original);
        NANOS.addAndGet(Math.min(MOST_NANOS, System.nanoTime() - begin));
        return rewritten;
    }

    /** Returns the class file that replaces one, null if none does. */
    private byte[] rewritten(String name, byte[] original) {
        try {
            int hash = name.hashCode();
            int first = classes.find(hash);
            if (first < 0) {
                return null;
            }
            CRC32 crc = new CRC32();
            crc.update(original, 0, original.length);
            byte[] rewritten = classes.get(first, hash, (int) crc.getValue(), original.length);
            if (rewritten == null) {
                status.differs(name);
                return null;
            }
            if (rewritten.length == 0) {
                return null;
            }
            status.replaced();
            return rewritten;
        } catch (Throwable e) {
            status.differs(name);
            return null; // the program goes on with the original
        }
    }
}
