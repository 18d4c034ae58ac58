import com.android.tools.r8.*;
import com.android.tools.r8.origin.Origin;
import java.io.*;
import java.nio.file.*;
import java.util.*;

/**
 * Reads programs as host.Runner does, and writes them with DEX files in place of class files. D8 gets all programs of a
 * variant at once, because its start takes longer than a program. Programs that D8 refuses are left out, and each is
 * printed, with the message for each of its variants.
 *
 * Arguments: the jar of the library, a directory with the classes that the programs call, the file of the result.
 */
public final class Convert {
    /** A program, with classes by variant and name. */
    static final class Program {
        String name;
        String method;
        final Map<String, Map<String, byte[]>> variants = new LinkedHashMap<>();
        final Map<String, String> refused = new LinkedHashMap<>();
    }

    /** Where a class comes from: the messages of D8 have it. */
    static final class Source extends Origin {
        final Program program;

        Source(Program program) {
            super(Origin.root());
            this.program = program;
        }

        @Override
        public String part() {
            return program.name;
        }
    }

    static final class Messages implements DiagnosticsHandler {
        final Map<Program, String> errors = new LinkedHashMap<>();

        @Override
        public synchronized void error(Diagnostic d) {
            if (d.getOrigin() instanceof Source) {
                errors.put(((Source) d.getOrigin()).program, d.getDiagnosticMessage().replaceAll("\\s+", " "));
            }
        }

        @Override
        public void warning(Diagnostic d) {
        }

        @Override
        public void info(Diagnostic d) {
        }
    }

    /** Keeps a DEX file for each class file. What D8 adds to a class is in its file. */
    static final class Files extends DexFilePerClassFileConsumer.ForwardingConsumer {
        final Map<String, byte[]> byClass = new HashMap<>();

        Files() {
            super(null);
        }

        @Override
        public synchronized void accept(String descriptor, ByteDataView data, Set<String> all,
                DiagnosticsHandler handler) {
            byClass.put(descriptor.substring(1, descriptor.length() - 1).replace('/', '.'), data.copyByteData());
        }
    }

    public static void main(String[] args) throws Exception {
        List<Program> all = read(new DataInputStream(new BufferedInputStream(System.in)));
        ClassFileResourceProvider library = new ArchiveClassFileProvider(Paths.get(args[0]));
        List<Program> taken = new ArrayList<>(all);
        List<Program> refused = new ArrayList<>();
        Set<String> variants = new LinkedHashSet<>();
        all.forEach(p -> variants.addAll(p.variants.keySet()));
        for (String variant : variants) {
            // Those that D8 refused before have a run of their own: with them, the others would run twice.
            convert(refused, variant, library, Paths.get(args[1]));
            convert(taken, variant, library, Paths.get(args[1]));
            taken.removeIf(p -> !p.refused.isEmpty());
            refused = new ArrayList<>(all);
            refused.removeAll(taken);
        }
        for (Program p : all) {
            p.refused.forEach((variant, message) -> System.out.println(p.name + "\t" + variant + "\t" + message));
        }
        all.removeIf(p -> !p.refused.isEmpty());
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[2])))) {
            write(all, out);
        }
    }

    /** Replaces the classes of a variant. If D8 refuses programs, it runs again without them. */
    static void convert(List<Program> all, String variant, ClassFileResourceProvider library, Path host) {
        List<Program> left = new ArrayList<>(all);
        left.removeIf(p -> !p.variants.containsKey(variant));
        while (!left.isEmpty()) {
            Messages messages = new Messages();
            Files files = new Files();
            try {
                D8Command.Builder b = D8Command.builder(messages).addLibraryResourceProvider(library)
                    .addClasspathFiles(host).setMinApiLevel(30).setMode(CompilationMode.RELEASE)
                    .setProgramConsumer(files);
                for (Program p : left) {
                    p.variants.get(variant).values().forEach(data -> b.addClassProgramData(data, new Source(p)));
                }
                D8.run(b.build());
            } catch (CompilationFailedException e) {
                messages.errors.forEach((p, message) -> p.refused.put(variant, message));
                if (!left.removeAll(messages.errors.keySet())) {
                    throw new IllegalStateException("D8 failed, and no message names a program", e);
                }
                continue;
            }
            for (Program p : left) {
                p.variants.get(variant).replaceAll((name, data) -> files.byClass.get(name));
            }
            return;
        }
    }

    static List<Program> read(DataInputStream in) throws IOException {
        List<Program> all = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            Program p = new Program();
            p.name = in.readUTF();
            p.method = in.readUTF();
            for (int v = in.readInt(); v > 0; v--) {
                Map<String, byte[]> classes = new LinkedHashMap<>();
                p.variants.put(in.readUTF(), classes);
                for (int c = in.readInt(); c > 0; c--) {
                    String name = in.readUTF();
                    byte[] data = new byte[in.readInt()];
                    in.readFully(data);
                    classes.put(name, data);
                }
            }
            all.add(p);
        }
        return all;
    }

    static void write(List<Program> all, DataOutputStream out) throws IOException {
        out.writeInt(all.size());
        for (Program p : all) {
            out.writeUTF(p.name);
            out.writeUTF(p.method);
            out.writeInt(p.variants.size());
            for (Map.Entry<String, Map<String, byte[]>> v : p.variants.entrySet()) {
                out.writeUTF(v.getKey());
                out.writeInt(v.getValue().size());
                for (Map.Entry<String, byte[]> c : v.getValue().entrySet()) {
                    out.writeUTF(c.getKey());
                    out.writeInt(c.getValue().length);
                    out.write(c.getValue());
                }
            }
        }
    }
}
