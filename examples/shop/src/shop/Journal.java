package shop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes what was sold. From time to time it waits for a slow server. */
final class Journal {
    private final Path file;
    private boolean flush;

    Journal() throws IOException {
        file = Files.createTempFile("shop", ".journal");
        file.toFile().deleteOnExit();
    }

    /** Lets the next append wait for the server. */
    void flushNext() {
        flush = true;
    }

    void append(Order order, double total) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write((order.number + " " + total + "\n").getBytes(StandardCharsets.UTF_8));
        }
        if (flush) {
            flush = false;
            send();
        }
    }

    private void send() {
        try {
            Thread.sleep(450); // stands for the answer of a server
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
