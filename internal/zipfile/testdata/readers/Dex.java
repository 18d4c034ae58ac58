import com.android.tools.r8.ByteDataView;
import com.android.tools.r8.CompilationFailedException;
import com.android.tools.r8.CompilationMode;
import com.android.tools.r8.D8;
import com.android.tools.r8.D8Command;
import com.android.tools.r8.DexIndexedConsumer;
import com.android.tools.r8.Diagnostic;
import com.android.tools.r8.DiagnosticsHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Reads archives by D8. */
public final class Dex implements Readers.Reader {
    @Override
    public String read(Path file) throws IOException {
        List<String> errors = new ArrayList<>();
        DiagnosticsHandler handler = new DiagnosticsHandler() {
            @Override
            public void error(Diagnostic d) {
                // The order of the places is that of threads.
                errors.add(d.getDiagnosticMessage().replaceFirst("(defined multiple times): .*", "$1"));
            }

            @Override
            public void warning(Diagnostic d) {}

            @Override
            public void info(Diagnostic d) {}
        };
        AtomicInteger classes = new AtomicInteger();
        DexIndexedConsumer consumer = new DexIndexedConsumer.ForwardingConsumer(null) {
            @Override
            public void accept(int index, ByteDataView data, Set<String> descriptors, DiagnosticsHandler h) {
                classes.addAndGet(descriptors.size());
            }
        };
        try {
            D8.run(D8Command.builder(handler).addProgramFiles(file).setMinApiLevel(26).setDisableDesugaring(true)
                .setMode(CompilationMode.RELEASE).setProgramConsumer(consumer).build());
        } catch (CompilationFailedException e) {
            throw new IOException(errors.isEmpty() ? Readers.message(root(e)) : errors.get(0));
        }
        return Integer.toString(classes.get());
    }

    private static Throwable root(Throwable t) {
        while (t.getCause() != null) {
            t = t.getCause();
        }
        return t;
    }
}
