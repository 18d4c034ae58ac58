package dev.tracegen.oracle;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.util.CheckClassAdapter;

/**
 * Reads every class of many jars with ASM and reports the runtime calls of each method.
 *
 * <p>{@code Disassemble JOBS OUT THREADS RUNTIME check|read}. A line of JOBS is: id, jar. OUT has
 * lines of two kinds, tab-separated, with backslash escapes:
 *
 * <pre>
 *   C  id entry class major jsr error     jsr is 1 if a method has a subroutine; error is empty when
 *                                         ASM accepts the class
 *   M  id entry class method descriptor access, and the columns of {@link Calls}
 * </pre>
 *
 * <p>With {@code check} the class also goes through {@link CheckClassAdapter} with ASM's basic data flow, which needs
 * no class hierarchy: it does not distinguish reference types, but checks stack heights, {@code max_stack}, {@code
 * max_locals}, the form of every instruction, and frames.
 */
public final class Disassemble {
    private final String runtime;
    private final boolean check;
    private final PrintWriter out;

    private Disassemble(String runtime, boolean check, PrintWriter out) {
        this.runtime = runtime;
        this.check = check;
        this.out = out;
    }

    /** See the class comment. */
    public static void main(String[] args) throws Exception {
        List<String> jobs = Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8);
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            Disassemble d = new Disassemble(args[3], args[4].equals("check"), out);
            ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
            for (String job : jobs) {
                pool.execute(() -> d.run(job.split("\t")));
            }
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.DAYS);
        }
    }

    private void run(String[] job) {
        try (ZipFile zip = new ZipFile(job[1])) {
            for (ZipEntry e : Collections.list(zip.entries())) {
                if (e.getName().endsWith(".class")) {
                    read(job[0], zip, e);
                }
            }
        } catch (IOException e) {
            print("C", job[0], "-", "-", "0", "0", "job: " + e);
        }
    }

    private void read(String id, ZipFile zip, ZipEntry e) throws IOException {
        byte[] bytes;
        try (InputStream in = zip.getInputStream(e)) {
            bytes = in.readAllBytes();
        }
        ClassNode node = new ClassNode();
        String error = "";
        try {
            new ClassReader(bytes).accept(node, ClassReader.EXPAND_FRAMES);
        } catch (RuntimeException ex) {
            print("C", id, e.getName(), String.valueOf(node.name), "0", "0", "read: " + ex);
            return;
        }
        if (check) {
            try {
                // The checker uses max_stack, max_locals and the frames of the class only with a writer that computes
                // none of them.
                node.accept(new CheckClassAdapter(new ClassWriter(0), true));
            } catch (RuntimeException ex) {
                error = "check: " + firstLine(ex);
            }
        }
        print("C", id, e.getName(), node.name, Integer.toString(node.version & 0xFFFF),
                hasSubroutine(node) ? "1" : "0", error);
        for (MethodNode m : node.methods) {
            if (m.instructions.size() > 0) {
                Calls c = new Calls(m, runtime);
                print("M", id, e.getName(), node.name, m.name, m.desc,
                        Integer.toString(m.access), c.entryIds(), c.exitIds(),
                        Integer.toString(c.returns), Integer.toString(c.bareThrows),
                        Integer.toString(c.handlers), Integer.toString(c.exposed), c.faults());
            }
        }
    }

    private static boolean hasSubroutine(ClassNode node) {
        for (MethodNode m : node.methods) {
            for (AbstractInsnNode n : m.instructions) {
                if (n.getOpcode() == Opcodes.JSR) {
                    return true;
                }
            }
        }
        return false;
    }

    /** CheckMethodAdapter appends a dump of the whole method after the first line. */
    private static String firstLine(RuntimeException e) {
        String s = String.valueOf(e.getMessage());
        int end = s.indexOf('\n');
        return e.getClass().getSimpleName() + ": " + (end < 0 ? s : s.substring(0, end));
    }

    private synchronized void print(String... columns) {
        for (int k = 0; k < columns.length; k++) {
            columns[k] = columns[k].replace("\\", "\\\\").replace("\t", "\\t")
                    .replace("\n", "\\n").replace("\r", "\\r");
        }
        out.println(String.join("\t", columns));
    }
}
