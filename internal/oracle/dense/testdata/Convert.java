import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.asciidoctor.Asciidoctor;
import org.asciidoctor.Options;
import org.asciidoctor.SafeMode;

/** Converts a document to HTML some times, with Asciidoctor in JRuby. */
public final class Convert {
    public static void main(String[] args) throws IOException {
        String text = new String(Files.readAllBytes(Paths.get(args[0])), StandardCharsets.UTF_8);
        try (Asciidoctor asciidoctor = Asciidoctor.Factory.create()) {
            for (int n = 0; n < 5; n++) {
                System.out.println(asciidoctor.convert(text, Options.builder().safe(SafeMode.SAFE).build()).length());
            }
        }
    }
}
