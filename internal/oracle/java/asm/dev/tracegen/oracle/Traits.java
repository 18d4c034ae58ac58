package dev.tracegen.oracle;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;

/**
 * Reports the properties of every class of many jars that rules have conditions on: flags, supertypes, annotations,
 * sizes, loops.
 *
 * <p>{@code Traits JOBS OUT}. A line of JOBS is: id, jar. OUT has lines of two kinds, tab-separated:
 *
 * <pre>
 *   C  id entry class access super,interface,...  annotation,...
 *   M  id entry class method descriptor access annotation,... instructions loop
 * </pre>
 *
 * <p>A jar with a class that ASM cannot read ends the program.
 */
public final class Traits {
    private Traits() {}

    /** See the class comment. */
    public static void main(String[] args) throws IOException {
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            for (String job : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
                String[] columns = job.split("\t");
                try (ZipFile zip = new ZipFile(columns[1])) {
                    for (ZipEntry e : Collections.list(zip.entries())) {
                        if (e.getName().endsWith(".class")) {
                            read(out, columns[0], e.getName(), zip.getInputStream(e));
                        }
                    }
                }
            }
        }
    }

    private static void read(PrintWriter out, String id, String entry, InputStream in) throws IOException {
        ClassNode node = new ClassNode();
        new ClassReader(in).accept(node, ClassReader.SKIP_FRAMES);
        List<String> supers = new ArrayList<>();
        if (node.superName != null) {
            supers.add(node.superName);
        }
        supers.addAll(node.interfaces);
        print(out, "C", id, entry, node.name, Integer.toString(node.access), String.join(",", supers),
                annotations(node.visibleAnnotations, node.invisibleAnnotations));
        for (MethodNode m : node.methods) {
            if (m.instructions.size() > 0) {
                int size = 0;
                for (AbstractInsnNode n : m.instructions) {
                    size += n.getOpcode() >= 0 ? 1 : 0;
                }
                print(out, "M", id, entry, node.name, m.name, m.desc, Integer.toString(m.access),
                        annotations(m.visibleAnnotations, m.invisibleAnnotations),
                        Integer.toString(size), loops(m) ? "1" : "0");
            }
        }
    }

    private static String annotations(List<AnnotationNode> visible, List<AnnotationNode> invisible) {
        List<String> names = new ArrayList<>();
        for (List<AnnotationNode> list : Arrays.asList(visible, invisible)) {
            if (list != null) {
                for (AnnotationNode a : list) {
                    names.add(a.desc.substring(1, a.desc.length() - 1));
                }
            }
        }
        return String.join(",", names);
    }

    /** Whether a branch leads to a label before it. */
    private static boolean loops(MethodNode m) {
        for (AbstractInsnNode n : m.instructions) {
            List<LabelNode> targets = new ArrayList<>();
            if (n instanceof JumpInsnNode) {
                targets.add(((JumpInsnNode) n).label);
            } else if (n instanceof TableSwitchInsnNode) {
                targets.addAll(((TableSwitchInsnNode) n).labels);
                targets.add(((TableSwitchInsnNode) n).dflt);
            } else if (n instanceof LookupSwitchInsnNode) {
                targets.addAll(((LookupSwitchInsnNode) n).labels);
                targets.add(((LookupSwitchInsnNode) n).dflt);
            }
            for (LabelNode target : targets) {
                if (m.instructions.indexOf(target) < m.instructions.indexOf(n)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void print(PrintWriter out, String... columns) {
        out.println(String.join("\t", columns));
    }
}
