package dev.tracegen.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedList;
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
 * <p>If another living process writes {@code app.tgd}, the files of this one are {@code app.pid4711.tgd},
 * {@code app.pid4711.part1.tgd} and so on, with its process ID. Files of a living process are neither renamed nor
 * deleted nor written to by another one: the file that is written is locked, see {@link FileClaim}.
 *
 * <p>Only recordings, which are regular files that begin with {@code TGD1}, are renamed or deleted. Everything else at
 * the output's path is refused here. {@link Output} handles devices, pipes and directories. The path is often typed by
 * hand, and the recorder may run as root.
 *
 * <p>{@code java.nio.file} would be the better API, but old Android versions do not have it.
 */
final class OutputFile {
    /** The first bytes of a recording. */
    private static final byte[] MAGIC = {'T', 'G', 'D', '1'};

    private final File file;
    private final Disk disk;
    private final Retention retention;
    private final String stem;
    private final String process;
    private final String extension;

    /** The names of this process's recordings, and those of all processes with this output. */
    private final Pattern names;
    private final Pattern allNames;

    /** The claim of an earlier recording while its name is taken; null otherwise. */
    private FileClaim earlier;

    /** The parts of this recording that are there, but for the one that is written, and their numbers. */
    private final Map<String, Integer> parts = new HashMap<String, Integer>();

    /** Another living process, or another recorder of this one, writes the file. */
    static final class InUse extends IOException {
        private static final long serialVersionUID = 1;

        InUse(File file) {
            super(file + " is written by another process");
        }
    }

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

    static final Comparator<File> OLDEST_TIME_FIRST = new Comparator<File>() {
        @Override
        public int compare(File a, File b) {
            long x = a.lastModified();
            long y = b.lastModified();
            return x < y ? -1 : x > y ? 1 : 0;
        }
    };

    /** Creates the description of an output. It touches no file. */
    OutputFile(File file, Retention retention, Disk disk) {
        this(file, "", retention, disk);
    }

    private OutputFile(File output, String process, Retention retention, Disk disk) {
        String name = output.getName();
        int dot = name.lastIndexOf('.');
        this.retention = retention;
        this.disk = disk;
        this.process = process;
        this.stem = dot > 0 ? name.substring(0, dot) : name;
        this.extension = dot > 0 ? name.substring(dot) : "";
        this.file = new File(output.getParentFile(), stem + process + extension);
        String rest = "(?:\\.part([1-9][0-9]{0,8}))?" + Pattern.quote(extension) + "(?:\\.([1-9][0-9]{0,8}))?";
        this.names = Pattern.compile(Pattern.quote(stem + process) + rest);
        this.allNames = Pattern.compile(Pattern.quote(stem) + "((?:\\.pid[0-9]+(?:-[0-9]+)?)?)" + rest);
    }

    /**
     * Returns the output of this process, if another one writes the file.
     *
     * @param attempt 1 for the name with the process ID. Processes of two containers may have the same ID: they add
     *     greater numbers
     */
    OutputFile ofProcess(int attempt) {
        return new OutputFile(new File(file.getParentFile(), stem + extension),
                ".pid" + ProcessNumber.get() + (attempt == 1 ? "" : "-" + attempt), retention, disk);
    }

    File file() {
        return file;
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
     * @return a file to append to, which is empty
     * @throws InUse if another process writes it
     * @throws RefusedOutput if there is something that is no recording; the message says what it is and what to do
     * @throws IOException if the file cannot be created
     */
    OpenFile open() throws IOException {
        // Nothing is renamed or deleted for an output that is refused.
        check();
        claimEarlier();
        try {
            makeRoom();
            moveEarlierRuns();
            return create();
        } finally {
            releaseEarlier();
        }
    }

    /**
     * Opens the file for the next part. The file that was written until now gets the name of a part. Numbers that
     * other files have are skipped. The oldest files are deleted if there are too many.
     *
     * @param finished the number of the part that was written until now, from 1
     * @return as {@link #open} does
     */
    OpenFile next(int finished) throws IOException {
        check();
        claimEarlier();
        try {
            if (isRecording(file)) {
                int number = finished;
                // The empty file reserves the name. A rename alone would replace a file that another process makes.
                while (!create(named(number, 0))) {
                    number++;
                }
                replace(file, named(number, 0));
                parts.put(named(number, 0).getName(), finished);
            }
            makeRoom();
            return create();
        } finally {
            releaseEarlier();
        }
    }

    /** Returns the number of the first part that was not deleted, given that of the part that is written. */
    int firstPart(int current) {
        int first = current;
        for (int part : parts.values()) {
            first = Math.min(first, part);
        }
        return first;
    }

    /**
     * Refuses an output that is neither a recording, nor an empty file, nor free. Touches nothing.
     *
     * @throws RefusedOutput the message says what is there and what to do
     */
    void check() throws RefusedOutput {
        byte[] head = head(file);
        boolean free = head == null ? !file.exists() && !isLink() : head.length == 0 || Arrays.equals(head, MAGIC);
        if (!free) {
            throw new RefusedOutput("the output " + file + " is " + kind(head)
                    + "; set the output to a new file or to an earlier recording");
        }
    }

    /** Reports whether there is a symbolic link, as the directory lists it although it leads to nothing. */
    private boolean isLink() {
        return siblings().contains(file.getName());
    }

    /**
     * Claims the recording that has the name of the output, so that no other process begins to write or rename it
     * meanwhile.
     */
    private void claimEarlier() throws IOException {
        if (!isRecording(file)) {
            return;
        }
        earlier = FileClaim.of(file);
        if (earlier == null || !earlier.isStillAt(file)) {
            releaseEarlier();
            throw new InUse(file);
        }
    }

    private void releaseEarlier() {
        if (earlier != null) {
            earlier.release();
            earlier = null;
        }
    }

    private OpenFile create() throws IOException {
        if (!create(file)) {
            check();
        }
        FileOutputStream stream = disk.open(file);
        FileClaim claim = null;
        try {
            releaseEarlier();
            claim = FileClaim.of(file, stream.getChannel());
            // Another process may have found the empty file first.
            if (claim == null || file.length() > 0) {
                throw new InUse(file);
            }
            OpenFile open = new OpenFile(disk, file, stream, claim);
            claim = null;
            stream = null;
            return open;
        } finally {
            if (claim != null) {
                claim.release();
            }
            if (stream != null) {
                stream.close();
            }
        }
    }

    /** Creates an empty file. Returns false if anything has that name, also a symbolic link to nothing. */
    private boolean create(File f) throws IOException {
        try {
            return disk.create(f);
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
        return new HashSet<String>(Arrays.asList(list == null ? new String[] {file.getName()} : list));
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

    /** Deletes recordings that are too old. */
    void deleteOld() throws IOException {
        delete(false);
    }

    /**
     * Deletes recordings that are too old, and the oldest others, so that there is room for one more file. Recordings
     * of processes that have ended count too. Those of living ones need space, but are not deleted.
     */
    private void makeRoom() throws IOException {
        delete(true);
    }

    private void delete(boolean forAnotherFile) throws IOException {
        LinkedList<File> own = new LinkedList<File>();
        long bytes = 0;
        for (Recording r : recordings()) {
            own.add(r.file);
            bytes += r.file.length();
        }
        LinkedList<File> others = new LinkedList<File>();
        for (List<File> family : otherProcesses()) {
            boolean living = false;
            for (File f : family) {
                bytes += f.length();
                living |= FileClaim.isWritten(f);
            }
            if (!living) {
                others.addAll(family);
            }
        }
        Collections.sort(others, OLDEST_TIME_FIRST);
        while (!own.isEmpty() || !others.isEmpty()) {
            LinkedList<File> of = own.isEmpty() ? others : others.isEmpty() ? own
                    : OLDEST_TIME_FIRST.compare(own.getFirst(), others.getFirst()) <= 0 ? own : others;
            File oldest = of.getFirst();
            long size = oldest.length();
            if (!(forAnotherFile && retention.tooMany(own.size() + others.size(), bytes))
                    && (parts.containsKey(oldest.getName()) || !retention.tooOld(oldest.lastModified()))) {
                return;
            }
            delete(oldest);
            parts.remove(oldest.getName());
            of.removeFirst();
            bytes -= size;
        }
    }

    /** Returns the recordings of other processes with this output, those of one process together. */
    private Collection<List<File>> otherProcesses() {
        TreeMap<String, List<File>> families = new TreeMap<String, List<File>>();
        for (String name : siblings()) {
            Matcher m = allNames.matcher(name);
            File f = new File(file.getParentFile(), name);
            if (m.matches() && !m.group(1).equals(process) && isRecording(f)) {
                if (!families.containsKey(m.group(1))) {
                    families.put(m.group(1), new ArrayList<File>());
                }
                families.get(m.group(1)).add(f);
            }
        }
        return families.values();
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
    private void replace(File from, File to) throws IOException {
        if (from.renameTo(to)) {
            return;
        }
        // Some systems rename a file only to a free name, and only if it is not open.
        releaseEarlier();
        if (!(to.length() == 0 && to.delete() && from.renameTo(to))) {
            throw new IOException("cannot rename " + from + " to " + to);
        }
    }

    private void delete(File recording) throws IOException {
        if (recording.delete()) {
            return;
        }
        releaseEarlier();
        if (!recording.delete()) {
            throw new IOException("cannot delete " + recording);
        }
    }

    /** Reports whether a file is a recording. */
    static boolean isRecording(File f) {
        byte[] head = head(f);
        return head != null && Arrays.equals(head, MAGIC);
    }

    /**
     * Reads the first bytes of a regular file, or of one that a symbolic link leads to. Nothing else is opened:
     * opening a pipe blocks, and opening a device may act on it. A file that this process writes is not opened either:
     * closing it would end the file's lock. It has a header, or will have one.
     *
     * @return as many bytes as the magic has, fewer if the file is shorter; null if it is no regular file or cannot
     *     be read
     */
    private static byte[] head(File f) {
        if (!f.isFile()) {
            return null;
        }
        if (FileClaim.isOurs(f)) {
            return MAGIC;
        }
        try (FileInputStream in = new FileInputStream(f)) {
            byte[] head = new byte[MAGIC.length];
            int n = 0;
            for (int read = 0; read >= 0 && n < head.length; n += Math.max(0, read)) {
                read = in.read(head, n, head.length - n);
            }
            return Arrays.copyOf(head, n);
        } catch (IOException e) {
            return null;
        }
    }
}
