import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Collections;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/** Reads archives by Apache Commons Compress, as Gradle does. */
public final class Compress implements Readers.Reader {
    @Override
    public String read(Path file) throws IOException {
        Readers.Count count = new Readers.Count();
        try (ZipFile z = ZipFile.builder().setPath(file).get()) {
            for (ZipArchiveEntry entry : Collections.list(z.getEntries())) {
                try (InputStream in = z.getInputStream(entry)) {
                    count.add(entry.getName(), in.readAllBytes(), null);
                } catch (Throwable t) {
                    count.add(entry.getName(), null, t);
                }
            }
        }
        return count.toString();
    }
}
