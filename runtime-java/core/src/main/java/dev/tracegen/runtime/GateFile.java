package dev.tracegen.runtime;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;

/** Reads the file of {@link RecorderOptions#gateFile}. */
final class GateFile {
    private static final String MAPPING = "mapping ";

    private GateFile() {
    }

    /** Reads the file and switches its methods off. If that is not possible, it logs why. */
    static void read(File file, Platform platform) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(file), "UTF-8"))) {
            read(file, in, platform);
        } catch (IOException e) {
            platform.log("the gate file " + file + " cannot be read, and all methods are recorded: " + e.getMessage());
        }
    }

    private static void read(File file, BufferedReader in, Platform platform) throws IOException {
        String digest = null;
        int[] ids = new int[64];
        int n = 0;
        int number = 1;
        for (String line = in.readLine(); line != null; line = in.readLine(), number++) {
            String text = line.trim();
            if (text.length() == 0 || text.startsWith("#")) {
                continue;
            }
            if (text.startsWith(MAPPING)) {
                digest = text.substring(MAPPING.length()).trim();
                continue;
            }
            try {
                ids = n == ids.length ? Arrays.copyOf(ids, 2 * n) : ids;
                ids[n++] = OptionTable.number(text, "the ID of a method", 1, AppMethodBeat.METHOD_ID_DISPATCH - 1);
            } catch (IllegalArgumentException e) {
                throw new IOException("line " + number + ": want mapping DIGEST or the ID of a method");
            }
        }
        if (!Recorder.setGate(Arrays.copyOf(ids, n), digest)) {
            platform.log("the gate file " + file + " is of the mapping " + digest + ", the program of "
                    + MappingInfo.digest() + ": it is refused, and all methods are recorded");
        }
    }
}
