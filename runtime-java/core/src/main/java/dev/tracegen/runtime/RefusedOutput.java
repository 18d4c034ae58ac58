package dev.tracegen.runtime;

import java.io.IOException;

/** There is something at the output that must not be written to. To try again later would not help. */
final class RefusedOutput extends IOException {
    private static final long serialVersionUID = 1;

    RefusedOutput(String message) {
        super(message);
    }
}
