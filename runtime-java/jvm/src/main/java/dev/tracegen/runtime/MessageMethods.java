package dev.tracegen.runtime;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.BitSet;

/**
 * The methods whose calls are messages on threads without a Looper, such as the method of a server that handles a
 * request. Without them, the outermost call of a pool's thread would be one message for as long as the thread lives.
 *
 * <p>They are those that the mapping has from the build's rules, or those whose IDs were set for this run.
 */
final class MessageMethods {
    /** Methods by ID, and the calls that were found to enclose messages. Used by the sampler only. */
    final BitSet methods = new BitSet();
    final BitSet loops = new BitSet();

    /**
     * Finds the methods. What is wrong with them is logged.
     *
     * @param ids IDs of methods with commas between; null for those of the mapping
     * @return null if there are none
     */
    static MessageMethods find(RecorderOptions options, String ids) {
        MessageMethods found = new MessageMethods();
        for (String text : ids == null ? new String[0] : ids.split(",")) {
            if (text.trim().matches("[1-9][0-9]{0,6}")) {
                found.methods.set(Integer.parseInt(text.trim()));
            } else {
                options.platform.log("message " + text.trim()
                        + ": want the ID of a method, which tracegen lookup prints; it is ignored");
            }
        }
        if (found.methods.isEmpty() && options.get("mapping").length() > 0) {
            try {
                found.read(options.get("mapping"));
            } catch (IOException e) {
                options.platform.log("the mapping cannot be read, so that its messages are not known: "
                        + e.getMessage());
            }
        }
        return found.methods.isEmpty() ? null : found;
    }

    /** Reads the IDs of a mapping, if it is that of the program. */
    private void read(String mapping) throws IOException {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(mapping), "UTF-8"))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("# digest ") && !line.substring(9).equals(MappingInfo.digest())) {
                    return;
                }
                if (line.matches("# message [1-9][0-9]{0,6}")) {
                    methods.set(Integer.parseInt(line.substring(10)));
                }
            }
        }
    }

    /** Returns the IDs, separated by commas. */
    @Override
    public String toString() {
        StringBuilder b = new StringBuilder();
        for (int id = methods.nextSetBit(0); id >= 0; id = methods.nextSetBit(id + 1)) {
            b.append(b.length() == 0 ? "" : ",").append(id);
        }
        return b.toString();
    }
}
