package dev.tracegen.runtime;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * Names methods in what a developer reads on the device: looks IDs up in the {@code methodMapping.txt} of the build. Each
 * question reads the file once, from its begin to the last ID that is asked for, and keeps nothing but the answer; so it
 * costs little memory and some time, and should not be asked on the main thread. Recordings need none of this: they are
 * read with the mapping beside them.
 *
 * <p>Given to {@link RecorderOptions#mapping}, slow messages are logged with their calls by name. Who has the mapping
 * somewhere else than in a file, among an app's assets for instance, overrides {@link #open}.
 */
public class MappingReader {
    private final File file;

    /**
     * Of a file.
     *
     * @param file the mapping, in the form of tracegen or of Matrix; not opened before it is asked
     */
    public MappingReader(File file) {
        this.file = file;
    }

    /**
     * Opens the mapping.
     *
     * @return its bytes from the begin; closed by who asked
     * @throws IOException if there is none
     */
    protected InputStream open() throws IOException {
        return new FileInputStream(file);
    }

    /**
     * Looks up names.
     *
     * @param ids of methods; those that no line has are left out of the answer
     * @return class and method, {@code com.example.Foo.bar}, by ID
     * @throws IOException if the mapping cannot be read
     */
    public Map<Integer, String> names(Collection<Integer> ids) throws IOException {
        Map<Integer, String> names = new HashMap<Integer, String>();
        TreeSet<Integer> wanted = new TreeSet<Integer>(ids);
        if (wanted.remove(AppMethodBeat.METHOD_ID_DISPATCH)) {
            // The last line of all.
            names.put(AppMethodBeat.METHOD_ID_DISPATCH, "android.os.Handler.dispatchMessage");
        }
        if (wanted.isEmpty()) {
            return names;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(open(), "UTF-8"));
        try {
            for (String line = in.readLine(); line != null && !wanted.isEmpty(); line = in.readLine()) {
                int id = id(line);
                if (id > 0 && wanted.remove(id)) {
                    names.put(id, name(line));
                }
            }
        } finally {
            in.close();
        }
        return names;
    }

    /** The ID of a line {@code ID,ACCESS,CLASS METHOD DESCRIPTOR}, -1 if it is none: a comment, for instance. */
    private static int id(String line) {
        int comma = line.indexOf(',');
        int id = 0;
        for (int k = 0; k < comma; k++) {
            int digit = line.charAt(k) - '0';
            if (digit < 0 || digit > 9 || k > 7) {
                return -1;
            }
            id = id * 10 + digit;
        }
        return comma < 1 ? -1 : id;
    }

    private static String name(String line) {
        String[] words = line.substring(line.indexOf(',', line.indexOf(',') + 1) + 1).split(" ", 3);
        return words.length < 2 ? words[0] : words[0] + "." + words[1];
    }

    /**
     * What a developer wants to read of a slow message: what it was, how long it took, what it waited for, and its
     * longest calls, one a line, indented by depth.
     *
     * @param message any
     * @param items how many calls at most
     * @return lines without an end at the last; methods that the mapping does not have are {@code method ID}
     * @throws IOException if the mapping cannot be read
     */
    public String describe(Stall stall, int items) throws IOException {
        TreeSet<Integer> ids = new TreeSet<Integer>();
        for (CallItem item : stall.tree.longest(items)) {
            ids.add(item.id);
        }
        Map<Integer, String> names = names(ids);
        StringBuilder b = new StringBuilder();
        b.append("slow: ").append(stall.wallNanos / 1000000).append(" ms on ").append(stall.thread).append(": ")
                .append(stall.description);
        if (stall.cpuNanos >= 0) {
            b.append(", ").append(stall.cpuNanos / 1000000).append(" ms of CPU");
        }
        if (stall.lockOwner != null) {
            b.append(", waited for what ").append(stall.lockOwner);
        }
        for (CallItem item : stall.tree.longest(items)) {
            b.append('\n');
            for (int k = 0; k < item.depth; k++) {
                b.append("  ");
            }
            String name = names.get(item.id);
            b.append("  ").append(name == null ? "method " + item.id : name).append(": ").append(item.ticks).append(" ticks");
            if (item.count > 1) {
                b.append(" in ").append(item.count).append(" calls");
            }
        }
        return b.toString();
    }
}
