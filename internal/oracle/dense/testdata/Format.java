import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats sources, on the main thread. */
public final class Format {
    public static void main(String[] args) throws IOException, FormatterException {
        long size = 0;
        for (String dir : args) {
            List<Path> files;
            try (Stream<Path> all = Files.walk(Paths.get(dir))) {
                files = all.filter(f -> f.toString().endsWith(".java")).sorted().collect(Collectors.toList());
            }
            for (Path file : files) {
                String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
                size += new Formatter().formatSource(text).length();
            }
        }
        System.out.println(size);
    }
}
