import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Writes the sources of the no-op: those of the public classes of the other modules, without what is not public and
 * without what the methods do. The arguments are the directory to write to and the directories of sources to read.
 *
 * <p>Interfaces, enums and classes that only hold values are copied. A method of another class does nothing and returns
 * null where its type is marked as nullable; the object itself where it returns its own class; else 0, false, an empty
 * text or collection, or a new object. {@link #BODIES} has the methods for which that would say something wrong.
 */
final class NoOp {
    /** The packages whose public classes apps may use. */
    private static final List<String> PACKAGES = Arrays.asList("com.tencent.matrix.trace.core", "dev.tracegen.runtime",
            "dev.tracegen.runtime.android", "dev.tracegen.runtime.report");

    /** Classes that only hold values which an app may set, and the one that tracegen finds by its name. */
    private static final Set<String> COPIED = new HashSet<>(Arrays.asList("FrameTiming", "LockWait", "MappingInfo",
            "PendingMessage", "Platform", "Sampling", "UploadResult"));

    private static final String NO_KEY = "return \"0000000000000000\";";
    private static final String NOT_SENT = "return UploadResult.stop(\"the no-op sends nothing\");";

    private static final Map<String, String> BODIES = new HashMap<>();

    static {
        BODIES.put("AppMethodBeat.status", "return STATUS_DEFAULT;");
        BODIES.put("CallTree.stackKey", NO_KEY);
        BODIES.put("HttpUploader.open", "return url.openConnection();");
        BODIES.put("HttpUploader.recording", NOT_SENT);
        BODIES.put("HttpUploader.reports", NOT_SENT);
        BODIES.put("Recorder.platform", "return new Platform() {\n            @Override\n"
                + "            public @Nullable Thread mainThread() {\n                return null;\n            }\n\n"
                + "            @Override\n            public void log(String line) {\n            }\n        };");
        BODIES.put("Recorder.recordingId", NO_KEY);
        BODIES.put("RemoteConfig.accept", "return \"the no-op has no settings\";");
    }

    private final SourcePositions positions;
    private final CompilationUnitTree unit;
    private final String source;
    private final Set<String> known;
    private final StringBuilder out = new StringBuilder();

    private NoOp(SourcePositions positions, CompilationUnitTree unit, Set<String> known) throws IOException {
        this.positions = positions;
        this.unit = unit;
        this.source = unit.getSourceFile().getCharContent(true).toString();
        this.known = known;
    }

    public static void main(String[] args) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String root : Arrays.asList(args).subList(1, args.length)) {
            try (Stream<Path> all = Files.walk(Paths.get(root))) {
                files.addAll(all.filter(f -> f.toString().endsWith(".java")
                        && !f.endsWith("module-info.java")).sorted().collect(Collectors.toList()));
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            Iterable<? extends JavaFileObject> sources = manager.getJavaFileObjectsFromFiles(
                    files.stream().map(Path::toFile).collect(Collectors.toList()));
            JavacTask task = (JavacTask) compiler.getTask(null, manager, null, null, null, sources);
            List<CompilationUnitTree> units = new ArrayList<>();
            task.parse().forEach(units::add);
            // The classes that are there in the no-op, so that a method can return one.
            Set<String> known = units.stream().filter(NoOp::isPublic).flatMap(u -> u.getTypeDecls().stream())
                    .map(t -> ((ClassTree) t).getSimpleName().toString()).collect(Collectors.toSet());
            for (CompilationUnitTree u : units) {
                if (isPublic(u)) {
                    write(Paths.get(args[0]), u,
                            new NoOp(Trees.instance(task).getSourcePositions(), u, known).text());
                }
            }
        }
    }

    /** Reports whether a file has a class that apps may use, or what is said of such a package. */
    private static boolean isPublic(CompilationUnitTree u) {
        if (!PACKAGES.contains(u.getPackageName().toString())) {
            return false;
        }
        return u.getTypeDecls().isEmpty() || isPublic(u.getTypeDecls().get(0));
    }

    private static boolean isPublic(Tree member) {
        Set<Modifier> flags = member instanceof ClassTree ? ((ClassTree) member).getModifiers().getFlags()
                : member instanceof MethodTree ? ((MethodTree) member).getModifiers().getFlags()
                : member instanceof VariableTree ? ((VariableTree) member).getModifiers().getFlags()
                : new HashSet<Modifier>();
        return flags.contains(Modifier.PUBLIC) || flags.contains(Modifier.PROTECTED);
    }

    private static void write(Path out, CompilationUnitTree u, String text) throws IOException {
        Path file = out.resolve(u.getPackageName().toString().replace('.', '/'))
                .resolve(Paths.get(u.getSourceFile().toUri()).getFileName());
        Files.createDirectories(file.getParent());
        Files.write(file, text.getBytes("UTF-8"));
    }

    private int start(Tree t) {
        return (int) positions.getStartPosition(unit, t);
    }

    private int end(Tree t) {
        return (int) positions.getEndPosition(unit, t);
    }

    private String text() {
        boolean copied = unit.getTypeDecls().isEmpty() || unit.getPackageName().toString().startsWith("com.tencent");
        ClassTree c = copied ? null : (ClassTree) unit.getTypeDecls().get(0);
        if (copied || isCopied(c)) {
            return source;
        }
        out.append(source, 0, start(c));
        add(c, "");
        // What a comment refers to may be absent here.
        return out.append('\n').toString().replace("{@link ", "{@code ");
    }

    private static boolean isCopied(ClassTree c) {
        return c.getKind() != Tree.Kind.CLASS || COPIED.contains(c.getSimpleName().toString());
    }

    /** Adds a class. Its text begins at the place where its modifiers do. */
    private void add(ClassTree c, String indent) {
        int from = source.indexOf('{', start(c)) + 1;
        out.append(source, start(c), from);
        String name = c.getSimpleName().toString();
        boolean constructors = false;
        boolean usable = false;
        for (Tree member : c.getMembers()) {
            if (isPublic(member)) {
                out.append(source, from, start(member));
                add(member, name, indent + "    ");
            }
            if (member instanceof MethodTree && ((MethodTree) member).getReturnType() == null) {
                constructors = true;
                usable |= isPublic(member) && ((MethodTree) member).getParameters().isEmpty();
            }
            from = end(member);
        }
        if (constructors && !usable) {
            // So that methods of this package can return an object.
            out.append("\n\n").append(indent).append("    ").append(name).append("() {\n").append(indent)
                    .append("    }");
        }
        out.append('\n').append(indent).append('}');
    }

    private void add(Tree member, String owner, String indent) {
        if (member instanceof ClassTree && !isCopied((ClassTree) member)) {
            add((ClassTree) member, indent);
        } else if (member instanceof VariableTree && ((VariableTree) member).getInitializer() == null
                && ((VariableTree) member).getModifiers().getFlags().contains(Modifier.FINAL)) {
            VariableTree field = (VariableTree) member;
            // Not in the declaration: javac would copy the constant into the classes of the app.
            out.append(source, start(field), end(field)).append(" { ").append(field.getName()).append(" = ")
                    .append(value(field.getType(), field.getModifiers().toString(), "")).append("; }");
        } else if (member instanceof MethodTree && ((MethodTree) member).getBody() != null) {
            MethodTree method = (MethodTree) member;
            out.append(source.substring(start(method), start(method.getBody())).replace("synchronized ", ""));
            String body = body(method, owner);
            out.append("{\n").append(body.isEmpty() ? "" : indent + "    " + body + "\n").append(indent).append('}');
        } else {
            out.append(source, start(member), end(member));
        }
    }

    private String body(MethodTree method, String owner) {
        String own = BODIES.get(owner + "." + method.getName());
        if (own != null || method.getReturnType() == null || method.getReturnType().toString().equals("void")) {
            return own == null ? "" : own;
        }
        boolean isStatic = method.getModifiers().getFlags().contains(Modifier.STATIC);
        return "return " + value(method.getReturnType(), method.getModifiers().toString(), isStatic ? "" : owner) + ";";
    }

    /** Returns what a method of a type returns; {@code self} is the class of the object, empty for none. */
    private String value(Tree tree, String modifiers, String self) {
        String type = tree.toString();
        String plain = type.replaceAll("@\\w+ *(\\(\\))? *", "").replaceAll("<.*>", "").trim();
        if (type.contains("@Nullable") && !type.contains("<@") || modifiers.contains("@Nullable")) {
            return "null";
        }
        switch (plain) {
            case "boolean":
                return "false";
            case "byte":
            case "short":
            case "int":
            case "long":
            case "float":
            case "double":
                return "0";
            case "String":
                return "\"\"";
            case "List":
                return "new java.util.ArrayList<>()";
            case "Map":
                return "new java.util.HashMap<>()";
            default:
                return plain.equals(self) || plain.endsWith("." + self) && !self.isEmpty() ? "this"
                        : plain.endsWith("[]") ? "new " + plain.replace("[]", "[0]")
                        : known.contains(plain.replaceAll("[.].*", "")) || plain.equals("Properties")
                        ? "new " + plain + "()" : "null";
        }
    }
}
