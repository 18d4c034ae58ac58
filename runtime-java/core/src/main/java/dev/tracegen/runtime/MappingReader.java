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
 * Looks up the names of methods by their IDs in the {@code methodMapping.txt} of the build. Each lookup reads the
 * file from its begin to the last ID that was asked for, and keeps nothing else. It needs little memory and some
 * time, so it must not run on the main thread. Recordings do not need it; they are analyzed with the mapping.
 *
 * <p>If it is passed to {@link RecorderOptions#mapping}, stalls are logged with the names of their calls. A subclass
 * may override {@link #open} to read the mapping from elsewhere, for example from the assets of an app.
 */
public class MappingReader {
    private final File file;

    /**
     * Creates a reader of a file. The file is opened at each lookup.
     *
     * @param file the mapping, in the format of tracegen or of Matrix
     */
    public MappingReader(File file) {
        this.file = file;
    }

    /**
     * Opens the mapping.
     *
     * @return its bytes from the begin; the caller closes it
     * @throws IOException if it cannot be opened
     */
    protected InputStream open() throws IOException {
        return new FileInputStream(file);
    }

    /**
     * Looks up names.
     *
     * @param ids IDs of methods
     * @return class and method by ID, as in {@code com.example.Foo.bar}; IDs that the mapping does not have are left
     *     out
     * @throws IOException if the mapping cannot be read
     */
    public Map<Integer, String> names(Collection<Integer> ids) throws IOException {
        Map<Integer, String> names = new HashMap<Integer, String>();
        TreeSet<Integer> wanted = new TreeSet<Integer>(ids);
        if (wanted.remove(AppMethodBeat.METHOD_ID_DISPATCH)) {
            // The mapping has it in its last line.
            names.put(AppMethodBeat.METHOD_ID_DISPATCH, "android.os.Handler.dispatchMessage");
        }
        if (wanted.isEmpty()) {
            return names;
        }
        try (BufferedReader in = new BufferedReader(new InputStreamReader(open(), "UTF-8"))) {
            for (String line = in.readLine(); line != null && !wanted.isEmpty(); line = in.readLine()) {
                int id = id(line);
                if (id > 0 && wanted.remove(id)) {
                    names.put(id, name(line));
                }
            }
        }
        return names;
    }

    /**
     * Returns the ID of a line {@code ID,ACCESS,CLASS METHOD DESCRIPTOR}; -1 if the line is a comment or has another
     * form.
     */
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
     * Describes a stall: its message, its time, the lock that it waited for, and its longest calls, one to a line,
     * indented by depth.
     *
     * @param stall the stall
     * @param items the greatest number of calls
     * @return lines, without a line end after the last; a method that the mapping does not have is {@code method ID}
     * @throws IOException if the mapping cannot be read
     */
    public String describe(Stall stall, int items) throws IOException {
        TreeSet<Integer> ids = new TreeSet<Integer>();
        for (CallItem item : stall.tree.longest(items)) {
            ids.add(item.id);
        }
        Map<Integer, String> names = names(ids);
        StringBuilder b = new StringBuilder();
        b.append("stall: ").append(stall.wallNanos / 1000000).append(" ms on ").append(stall.thread).append(": ")
                .append(stall.description);
        if (stall.cpuNanos >= 0) {
            b.append(", ").append(stall.cpuNanos / 1000000).append(" ms of CPU");
        }
        if (stall.lockOwner != null) {
            b.append(", waited for a lock: ").append(stall.lockOwner);
        }
        for (CallItem item : stall.tree.longest(items)) {
            b.append('\n');
            for (int k = 0; k < item.depth; k++) {
                b.append("  ");
            }
            String name = names.get(item.id);
            b.append("  ").append(name == null ? "method " + item.id : name).append(": ")
                    .append(item.ticks).append(" ticks");
            if (item.count > 1) {
                b.append(" in ").append(item.count).append(" calls");
            }
        }
        return b.toString();
    }
}
