import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;

/**
 * Reads archives by the programs of the JDK. The arguments are a file with lines NAME, INPUT, OUTPUT, separated by tabs,
 * and a directory for class files. The working directory, and all that lies in the directory two above it, is deleted
 * after each archive: it is where jar xf extracts to.
 */
public final class Readers {
    /** What one reader does with an archive. */
    public interface Reader {
        /** Returns what it reads, as text. What it throws is a refusal. */
        String read(Path file) throws Throwable;
    }

    /** Counts what a reader reads: entries, classes among them, and the first entry that could not be read. */
    public static final class Count {
        private int entries;
        private int classes;
        private String fault = "";

        /** One more entry, whose data is at hand unless there was an error. */
        public void add(String name, byte[] data, Throwable error) {
            entries++;
            if (error != null) {
                fail(name + ": " + message(error));
            } else if (name.endsWith(".class") && data.length > 4 && data[0] == (byte) 0xCA && data[1] == (byte) 0xFE) {
                classes++;
            }
        }

        /** Something that could not be read. */
        public void fail(String what) {
            if (fault.isEmpty()) {
                fault = "; " + what;
            }
        }

        @Override
        public String toString() {
            return entries + "/" + classes + fault;
        }
    }

    private static final PrintStream OUT = System.out;
    private static Path classFiles;

    /** Runs the readers. */
    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        classFiles = Path.of(args[1]);
        Map<String, Reader> readers = new LinkedHashMap<>();
        readers.put("jar tf", Readers::jarList);
        readers.put("jar xf", Readers::jarExtract);
        readers.put("ZipFile", Readers::zipFile);
        readers.put("ZipInputStream", Readers::zipInputStream);
        readers.put("javac", Readers::javac);
        say("version", System.getProperty("java.version"));
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] row = line.split("\t", -1);
            Path in = Path.of(row[1]);
            cells("in", row[0], in, readers);
            if (!row[2].isEmpty()) {
                cells("out", row[0], Path.of(row[2]), readers);
            }
            list(row[0], "in", in);
            if (!row[2].isEmpty()) {
                list(row[0], "out", Path.of(row[2]));
            }
        }
        OUT.flush();
    }

    private static void cells(String which, String row, Path file, Map<String, Reader> readers) {
        readers.forEach((column, reader) -> {
            String cell;
            try {
                cell = reader.read(file);
            } catch (Throwable t) {
                cell = "no: " + message(t);
            }
            say("cell", row, which, column, cell.replace(file.toString(), "FILE"));
        });
    }

    /** Returns what an error says, without the name of a usual class. */
    public static String message(Throwable t) {
        String name = t.getClass().getSimpleName();
        if (t.getMessage() == null) {
            return name;
        }
        String text = t.getMessage().lines().findFirst().orElse("");
        text = text.replaceFirst("^java[.]util[.]zip[.]ZipException: ", "");
        return name.equals("ZipException") || name.equals("IOException") ? text : name + ": " + text;
    }

    private static void say(String... fields) {
        StringBuilder line = new StringBuilder();
        for (String field : fields) {
            line.append(line.length() == 0 ? "" : "\t");
            field.chars().forEach(c -> {
                if (c < ' ' || c > '~' || c == '\\') {
                    line.append(String.format("\\u%04x", c));
                } else {
                    line.append((char) c);
                }
            });
        }
        OUT.println(line);
    }

    private static String zipFile(Path file) throws IOException {
        Count count = new Count();
        try (ZipFile z = new ZipFile(file.toFile())) {
            for (Enumeration<? extends ZipEntry> all = z.entries(); all.hasMoreElements();) {
                ZipEntry entry = all.nextElement();
                try (InputStream in = z.getInputStream(entry)) {
                    count.add(entry.getName(), in.readAllBytes(), null);
                } catch (Throwable t) {
                    count.add(entry.getName(), null, t);
                }
            }
        }
        return count.toString();
    }

    /** Prints each entry that ZipFile reads, with a hash of its data. */
    private static void list(String row, String which, Path file) throws Exception {
        try (ZipFile z = new ZipFile(file.toFile())) {
            for (Enumeration<? extends ZipEntry> all = z.entries(); all.hasMoreElements();) {
                ZipEntry entry = all.nextElement();
                try (InputStream in = z.getInputStream(entry)) {
                    byte[] sum = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
                    say("entry", row, which, entry.getName(), HexFormat.of().formatHex(sum));
                } catch (IOException | RuntimeException | OutOfMemoryError e) {
                    // An entry that cannot be read has no data to compare.
                }
            }
            say("read", row, which, "");
        } catch (IOException | RuntimeException e) {
            say("read", row, which, message(e));
        }
    }

    private static String zipInputStream(Path file) throws IOException {
        Count count = new Count();
        try (ZipInputStream z = new ZipInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            for (ZipEntry entry; (entry = z.getNextEntry()) != null;) {
                try {
                    count.add(entry.getName(), z.readAllBytes(), null);
                } catch (Throwable t) {
                    count.add(entry.getName(), null, t);
                    break;
                }
            }
        } catch (IOException | RuntimeException e) {
            count.fail(message(e));
        }
        return count.toString();
    }

    /** Runs jar and returns what it printed. */
    private static String jar(String... args) throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        // jar prints the stack of an error here and not to its own stream.
        ByteArrayOutputStream stack = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(stack, true));
        int exit;
        try {
            exit = ToolProvider.findFirst("jar").get().run(new PrintWriter(out), new PrintWriter(err), args);
        } finally {
            System.setErr(before);
        }
        if (exit != 0) {
            throw new IOException((err.toString() + stack).strip());
        }
        return out.toString();
    }

    private static String jarList(Path file) throws IOException {
        return Long.toString(jar("tf", file.toString()).lines().count());
    }

    private static String jarExtract(Path file) throws IOException {
        Path here = Path.of("").toAbsolutePath();
        Path top = here.getParent().getParent();
        String failed = "";
        try {
            jar("xf", file.toString());
        } catch (IOException | RuntimeException e) {
            failed = message(e);
        }
        int[] files = new int[3];
        Files.walkFileTree(top, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path p, BasicFileAttributes a) throws IOException {
                files[p.startsWith(here) ? 0 : 2]++;
                files[1] += p.toString().endsWith(".class") ? 1 : 0;
                Files.delete(p);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path p, IOException e) throws IOException {
                if (!here.startsWith(p)) {
                    Files.delete(p);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        String made = files[0] + "/" + files[1] + (files[2] > 0 ? ", " + files[2] + " outside" : "");
        if (failed.isEmpty()) {
            return made;
        }
        return files[0] + files[2] > 0 ? made + "; " + failed : "no: " + failed;
    }

    private static String javac(Path file) throws IOException {
        JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///Use.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignored) {
                return "class Use { void use() { odd.A.work(); } }";
            }
        };
        List<String> options = List.of("-proc:none", "-cp", file.toString(), "-d", classFiles.toString());
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(found, Locale.ROOT, StandardCharsets.UTF_8)) {
            boolean done = compiler.getTask(null, files, found, options, null, List.of(source)).call();
            if (done) {
                return "yes";
            }
        }
        List<String> texts = new ArrayList<>();
        for (Diagnostic<?> d : found.getDiagnostics()) {
            texts.add(d.getMessage(Locale.ROOT).lines().findFirst().orElse(""));
        }
        throw new IOException(texts.isEmpty() ? "no message" : texts.get(0));
    }
}
