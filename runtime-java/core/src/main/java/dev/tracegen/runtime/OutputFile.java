package dev.tracegen.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens the files that a recording is written to. The newest part of a recording is always {@code app.tgd}, its earlier
 * parts are {@code app.part1.tgd}, {@code app.part2.tgd} and so on. The files of earlier runs have a number behind the
 * name that they had: {@code app.tgd.1} and {@code app.part1.tgd.1} are of the run before, {@code app.tgd.2} is of the
 * one before that. So a name says whether two files are parts of one recording.
 *
 * <p>Only recordings, which are regular files that begin with
 * {@code TGD1}, are renamed or deleted for it. Everything else at the output's path is refused: a directory, a device,
 * a file of another program. The path is often typed by hand, and the recorder may run as root.
 *
 * <p>{@code java.nio.file} would be the better API, but old Android versions do not have it.
 */
final class OutputFile {
    /** The first bytes of a recording. */
    private static final byte[] MAGIC = {'T', 'G', 'D', '1'};

    private final File file;
    private final int maxFiles;
    private final String stem;
    private final String extension;
    private final Pattern names;

    /** The parts of this recording that are there, but for the one that is written, and their numbers. */
    private final Map<String, Integer> parts = new HashMap<String, Integer>();

    /** A recording in the directory whose name is one of those that are given here. */
    private static final class Recording {
        final File file;
        /** The number of the part, {@code Integer.MAX_VALUE} for the last one, whose name has none. */
        final int part;
        /** How many runs ago it was made; 0 for a file whose name has no number at its end. */
        final int run;

        Recording(File file, int part, int run) {
            this.file = file;
            this.part = part;
            this.run = run;
        }
    }

    /** The files of the earliest run come first, of these the first part. */
    private static final Comparator<Recording> OLDEST_FIRST = new Comparator<Recording>() {
        @Override
        public int compare(Recording a, Recording b) {
            return a.run != b.run ? (a.run > b.run ? -1 : 1) : a.part < b.part ? -1 : a.part > b.part ? 1 : 0;
        }
    };

    /**
     * Creates the description of an output. It touches no file.
     *
     * @param file the path of the recording
     * @param maxFiles how many files are kept, parts and earlier recordings together, the new one included; at least 1
     */
    OutputFile(File file, int maxFiles) {
        this.file = file;
        this.maxFiles = maxFiles;
        String name = file.getName();
        int dot = name.lastIndexOf('.');
        this.stem = dot > 0 ? name.substring(0, dot) : name;
        this.extension = dot > 0 ? name.substring(dot) : "";
        this.names = Pattern.compile(Pattern.quote(stem) + "(?:\\.part([1-9][0-9]{0,8}))?" + Pattern.quote(extension)
                + "(?:\\.([1-9][0-9]{0,8}))?");
    }

    /**
     * Opens the file for a new recording. If there are files of an earlier run, they get the number 1 behind their
     * names first, those with the number 1 the number 2, and so on up to the first free number. The oldest files are
     * deleted if there are too many.
     *
     * <p>An empty regular file is written to. It holds nothing that could be lost, and it may be ours: it remains if
     * the recorder is killed before it has written the header, or after a power loss. If it were refused, that phone
     * would never record again. {@code File.createTempFile} makes an empty file too.
     *
     * @return a stream that writes to the begin of an empty file
     * @throws IOException if the file cannot be created, or if there is something that is no recording; the message
     *     says what it is and what to do
     */
    FileOutputStream open() throws IOException {
        if (!isRecording(file)) {
            // Nothing is renamed or deleted for an output that is refused.
            claim();
        }
        deleteOldest();
        moveEarlierRuns();
        return create();
    }

    /**
     * Opens the file for the next part. The file that was written until now gets the name of a part. Numbers that
     * other files have are skipped. The oldest files are deleted if there are too many.
     *
     * @param finished the number of the part that was written until now, from 1
     * @return as {@link #open} does
     * @throws IOException as {@link #open} does
     */
    FileOutputStream next(int finished) throws IOException {
        if (isRecording(file)) {
            int number = finished;
            // The empty file reserves the name. A rename alone would replace a file that another process makes here.
            while (!create(named(number, 0))) {
                number++;
            }
            replace(file, named(number, 0));
            parts.put(named(number, 0).getName(), finished);
        } else {
            claim();
        }
        deleteOldest();
        return create();
    }

    /** Returns the number of the first part that was not deleted, given that of the part that is written. */
    int firstPart(int current) {
        int first = current;
        for (int part : parts.values()) {
            first = Math.min(first, part);
        }
        return first;
    }

    /** Creates the output unless it is an empty file. Refuses anything else. */
    private void claim() throws IOException {
        if (!create(file)) {
            byte[] head = head(file);
            if (head == null || head.length > 0) {
                throw new IOException("the output " + file + " is " + kind(head)
                        + "; set the output to a new file or to an earlier recording");
            }
        }
    }

    private FileOutputStream create() throws IOException {
        claim();
        // Append mode truncates nothing, whatever has happened to the file since the check.
        return new FileOutputStream(file, true);
    }

    /** Creates an empty file. Returns false if anything has that name, also a symbolic link to nothing. */
    private static boolean create(File f) throws IOException {
        try {
            return f.createNewFile();
        } catch (IOException e) {
            throw new IOException("cannot create " + f + ": " + e.getMessage());
        }
    }

    private String kind(byte[] head) {
        if (head != null) {
            return "a file that is not a recording (it does not begin with TGD1)";
        } else if (file.isDirectory()) {
            return "a directory";
        } else if (file.isFile()) {
            return "a file that cannot be read";
        }
        return file.exists() ? "a device, a pipe or a socket" : "a symbolic link to nothing";
    }

    /** Returns the names of what is beside the output. */
    private Set<String> siblings() {
        String[] list = file.getAbsoluteFile().getParentFile().list();
        // A directory that cannot be listed can still have the file.
        return new HashSet<String>(java.util.Arrays.asList(list == null ? new String[] {file.getName()} : list));
    }

    /** Returns the recordings beside the output that have one of its names, the oldest first. */
    private List<Recording> recordings() {
        List<Recording> all = new ArrayList<Recording>();
        for (String name : siblings()) {
            Matcher m = names.matcher(name);
            File f = new File(file.getParentFile(), name);
            if (m.matches() && isRecording(f)) {
                all.add(new Recording(f, m.group(1) == null ? Integer.MAX_VALUE : Integer.parseInt(m.group(1)),
                        m.group(2) == null ? 0 : Integer.parseInt(m.group(2))));
            }
        }
        Collections.sort(all, OLDEST_FIRST);
        return all;
    }

    /** Deletes the oldest recordings, so that there is room for one more file. */
    private void deleteOldest() throws IOException {
        List<Recording> all = recordings();
        for (int k = 0; k <= all.size() - maxFiles; k++) {
            delete(all.get(k).file);
            parts.remove(all.get(k).file.getName());
        }
    }

    /**
     * Renames the files of each earlier run to the next number, those of one run to the same. If something else has a
     * name with that number, the number is skipped. If that were a reason to refuse, a foreign file could prevent
     * recording.
     */
    private void moveEarlierRuns() throws IOException {
        TreeMap<Integer, List<Recording>> runs = new TreeMap<Integer, List<Recording>>();
        for (Recording r : recordings()) {
            if (!runs.containsKey(r.run)) {
                runs.put(r.run, new ArrayList<Recording>());
            }
            runs.get(r.run).add(r);
        }
        Set<String> taken = siblings();
        // The numbers that runs have and get, in their order: a run that is not in the way stays.
        List<int[]> moves = new ArrayList<int[]>();
        int last = 0;
        for (int run : runs.keySet()) {
            if (run > last) {
                break;
            }
            last = freeNumber(runs.get(run), last + 1, taken);
            moves.add(new int[] {run, last});
        }
        for (int k = moves.size() - 1; k >= 0; k--) {
            for (Recording r : runs.get(moves.get(k)[0])) {
                File to = named(r.part, moves.get(k)[1]);
                if (!create(to)) {
                    throw new IOException("cannot rename " + r.file + " to " + to + ": it has been created meanwhile");
                }
                replace(r.file, to);
            }
        }
    }

    /** Returns the first number from a given one on that the files of a run can have. */
    private int freeNumber(List<Recording> run, int from, Set<String> taken) {
        for (int number = from;; number++) {
            boolean free = true;
            for (Recording r : run) {
                File to = named(r.part, number);
                free &= !taken.contains(to.getName()) && !to.exists() || isRecording(to);
            }
            if (free) {
                return number;
            }
        }
    }

    /** Returns the file of a part of a run, see {@link Recording}. */
    private File named(int part, int run) {
        return new File(file.getParentFile(), stem + (part == Integer.MAX_VALUE ? "" : ".part" + part) + extension
                + (run == 0 ? "" : "." + run));
    }

    /** Renames a file to a name that an empty file has. */
    private static void replace(File from, File to) throws IOException {
        // Some systems rename a file only to a free name.
        if (!from.renameTo(to) && !(to.length() == 0 && to.delete() && from.renameTo(to))) {
            throw new IOException("cannot rename " + from + " to " + to);
        }
    }

    private static void delete(File recording) throws IOException {
        if (!recording.delete()) {
            throw new IOException("cannot delete " + recording);
        }
    }

    private static boolean isRecording(File f) {
        byte[] head = head(f);
        return head != null && java.util.Arrays.equals(head, MAGIC);
    }

    /**
     * Reads the first bytes of a regular file, or of one that a symbolic link leads to. Nothing else is opened:
     * opening a pipe blocks, and opening a device may act on it.
     *
     * @return as many bytes as the magic has, fewer if the file is shorter; null if it is no regular file or cannot
     *     be read
     */
    private static byte[] head(File f) {
        if (!f.isFile()) {
            return null;
        }
        try {
            FileInputStream in = new FileInputStream(f);
            try {
                byte[] head = new byte[MAGIC.length];
                int n = 0;
                for (int read = 0; read >= 0 && n < head.length; n += Math.max(0, read)) {
                    read = in.read(head, n, head.length - n);
                }
                return java.util.Arrays.copyOf(head, n);
            } finally {
                in.close();
            }
        } catch (IOException e) {
            return null;
        }
    }
}
