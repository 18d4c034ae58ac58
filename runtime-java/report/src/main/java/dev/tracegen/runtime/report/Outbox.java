package dev.tracegen.runtime.report;

import dev.tracegen.runtime.RecorderOptions;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;

/**
 * The reports that wait on the device to be sent: a directory with one file for each. All processes of an app share the
 * directory. Each writes files of its own, whose names have its session; a file is never changed by another process,
 * only deleted. So writing needs no lock.
 *
 * <p>A report is written to a temporary file, which is synced and renamed. So a file with a report's name is whole,
 * however the process ends. It begins with a checksum all the same: a file whose checksum is wrong is deleted and never
 * sent.
 *
 * <p>A report remains until it was delivered or refused for ever, or until a limit removes it: the oldest first. What
 * limits have removed, or kept from being written, is counted for ever, and each report has these totals. So no loss
 * remains unknown if any later report arrives.
 *
 * <p>All methods but the constructor access the disk. They never throw. Any thread may call them.
 */
public final class Outbox {
    /** How many bytes a file has besides its report: the checksum, a space, and the line end. */
    static final int OVERHEAD = 10;

    private static final String REPORT = ".report";

    /** In the name of a report of an incident that had not ended. */
    private static final String OPEN = ".open";

    /** A temporary file of another process is removed if it is so old: that process was killed while it wrote. */
    private static final long TORN_MILLIS = 600000;

    private static final int MAX_OPEN = 64;

    private static final Comparator<File> BY_NAME = new Comparator<File>() {
        @Override
        public int compare(File a, File b) {
            return a.getName().compareTo(b.getName());
        }
    };

    private final File directory;
    private final OutboxLimits limits;
    private final File stateFile;

    // Guarded by this.
    private final Map<String, File> open = new HashMap<String, File>();
    private OutboxCounts counts;
    private String session;
    private long next;
    private long installation;
    private boolean cleaned;

    /**
     * Creates an outbox. Accesses nothing.
     *
     * @param directory is created when it is needed; it must be for this purpose only
     * @param process the name of the process; at most one process with this name writes at a time
     * @param options with {@code outbox-reports}, {@code outbox-megabytes}, {@code outbox-days}, {@code upload-per-key}
     */
    public Outbox(File directory, String process, RecorderOptions options) {
        this(directory, process, OutboxLimits.of(options));
    }

    Outbox(File directory, String process, OutboxLimits limits) {
        this.directory = directory;
        this.limits = limits;
        this.stateFile = new File(directory, "state-" + Text.fileName(process));
    }

    File directory() {
        return directory;
    }

    /**
     * Returns the random number of this installation, for {@link Sampling#takes}. The first call makes it.
     *
     * @return never 0, and the same as long as the directory exists, in all processes; if the disk fails, another one
     *     for each process
     */
    public synchronized long installation() {
        if (installation != 0) {
            return installation;
        }
        ready();
        synchronized (Outbox.class) {
            try {
                // Two processes may begin at once. The second one waits for the first, which is quick.
                try (RandomAccessFile lock = new RandomAccessFile(new File(directory, "installation.lock"), "rw")) {
                    lock.getChannel().lock();
                    installation = readInstallation();
                }
            } catch (Exception e) {
                // The disk is full, or has no locks.
                installation = readInstallation();
            }
        }
        return installation;
    }

    private long readInstallation() {
        File file = new File(directory, "installation");
        byte[] content = DiskFile.read(file, 100);
        if (content != null && content.length >= 16) {
            try {
                return (Long.parseLong(Text.utf8(content, 0, 8), 16) << 32
                        | Long.parseLong(Text.utf8(content, 8, 16), 16)) | 1;
            } catch (NumberFormatException e) {
                // It is made again.
            }
        }
        String made = Text.random();
        try {
            DiskFile.replace(file, temporary(), Text.ascii(made + "\n"), true);
        } catch (IOException e) {
            // The next process tries it again.
        }
        return (Long.parseLong(made.substring(0, 8), 16) << 32 | Long.parseLong(made.substring(8), 16)) | 1;
    }

    /** Creates the directory, reads what this process must know, and removes what killed processes left. */
    private void ready() {
        if (session == null) {
            session = Text.random();
        }
        if (!directory.isDirectory()) {
            directory.mkdirs();
        }
        if (counts == null) {
            counts = new OutboxCounts(stateFile);
        }
        if (!cleaned) {
            cleaned = true;
            long now = System.currentTimeMillis();
            for (File f : list(DiskFile.TEMPORARY)) {
                long age = now - f.lastModified();
                if (age > TORN_MILLIS || age < -TORN_MILLIS) {
                    f.delete();
                }
            }
        }
    }

    private File temporary() {
        return new File(directory, session + DiskFile.TEMPORARY);
    }

    private File[] list(String end) {
        File[] all = directory.listFiles();
        List<File> found = new ArrayList<File>();
        for (File f : all == null ? new File[0] : all) {
            if (f.getName().endsWith(end)) {
                found.add(f);
            }
        }
        File[] files = found.toArray(new File[0]);
        Arrays.sort(files, BY_NAME);
        return files;
    }

    /**
     * Writes a report, unless there were too many with its key today.
     *
     * @param fraction of users that send such reports, which the report then says; see {@link Sampling#of}
     * @param wallMillis the time, in milliseconds since 1970
     * @return whether it is on the disk
     */
    public synchronized boolean add(Report report, double fraction, long wallMillis) {
        ready();
        File begun = open.remove(report.id);
        if (begun != null) {
            return replaceOpen(report, fraction, begun);
        }
        long[] rate = counts.rate(report.key, wallMillis);
        if (rate[1] >= limits.perKeyAndDay) {
            rate[2]++;
            counts.keepRate(report.key, rate);
            count("rate-limit", 1);
            save();
            return false;
        }
        File file = new File(directory, name(wallMillis, report.ended));
        String members = members(fraction, rate[2]);
        if (!write(file, report.json(members))) {
            count("not-written", 1);
            return false;
        }
        rate[1]++;
        rate[2] = 0;
        counts.keepRate(report.key, rate);
        makeRoom(wallMillis);
        save();
        if (!report.ended) {
            if (open.size() >= MAX_OPEN) {
                open.clear();
            }
            open.put(report.id, file);
        }
        return true;
    }

    /** Writes the last report of an incident in place of an earlier one, if that was not sent yet. */
    private boolean replaceOpen(Report report, double fraction, File begun) {
        if (!begun.isFile()) {
            // It was sent, because it waited for too long. The collector would drop another report of this ID.
            count("late-end", 1);
            save();
            return false;
        }
        boolean written = write(begun, report.json(members(fraction, 0)));
        if (!written) {
            count("not-written", 1);
        }
        if (written && !report.ended) {
            open.put(report.id, begun);
        } else {
            String name = begun.getName();
            begun.renameTo(new File(directory, name.replace(OPEN, "")));
        }
        return written;
    }

    /** Returns a name: names in their order are reports in the order of their times. */
    private String name(long wallMillis, boolean ended) {
        String time = Long.toString(Math.max(0, wallMillis) + 10000000000000L);
        return time + "-" + session + "-" + Long.toString(1000000 + next++) + (ended ? "" : OPEN) + REPORT;
    }

    private static long time(File report) {
        try {
            return Long.parseLong(report.getName().substring(0, 14)) - 10000000000000L;
        } catch (RuntimeException e) {
            return 0;
        }
    }

    private boolean write(File file, String json) {
        byte[] line = Text.utf8(json);
        try {
            DiskFile.replace(file, temporary(), withChecksum(line), true);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    static byte[] withChecksum(byte[] line) {
        CRC32 crc = new CRC32();
        crc.update(line);
        byte[] content = new byte[line.length + OVERHEAD];
        byte[] sum = Text.ascii(Text.hex(crc.getValue()).substring(8) + " ");
        System.arraycopy(sum, 0, content, 0, sum.length);
        System.arraycopy(line, 0, content, sum.length, line.length);
        content[content.length - 1] = '\n';
        return content;
    }

    /** Returns the report of a file; null if the file is damaged. */
    static byte[] checked(byte[] content) {
        if (content == null || content.length <= OVERHEAD) {
            return null;
        }
        byte[] line = Arrays.copyOfRange(content, OVERHEAD - 1, content.length - 1);
        return Arrays.equals(withChecksum(line), content) ? line : null;
    }

    /** Returns the members that a report gets when it is written. */
    private String members(double fraction, long leftOut) {
        Json json = new Json();
        json.open('{');
        if (fraction < 1) {
            json.key("sampling").any(fraction);
        }
        if (leftOut > 0) {
            json.key("leftOut").value(leftOut);
        }
        Map<String, Long> totals = totals();
        if (!totals.isEmpty()) {
            json.key("dropped").open('{').members(totals).close('}');
        }
        String text = json.toString().substring(1);
        return text.length() == 0 ? "" : "," + text;
    }

    /**
     * Returns how many reports this process and earlier ones of its name have lost since the installation, by the
     * reason: {@code rate-limit}, {@code full}, {@code too-old}, {@code not-written}, {@code torn}, {@code refused},
     * {@code late-end}.
     *
     * @return reasons that occurred, and how often
     */
    public synchronized Map<String, Long> totals() {
        return counts == null ? new TreeMap<String, Long>() : counts.totals();
    }

    private void count(String reason, int more) {
        counts.add(reason, more);
    }

    private void save() {
        counts.save(temporary());
    }

    /** Deletes reports that are too old, and the oldest ones if there are too many. */
    private void makeRoom(long wallMillis) {
        File[] all = list(REPORT);
        long bytes = 0;
        for (File f : all) {
            bytes += f.length();
        }
        int left = all.length;
        for (File f : all) {
            boolean old = wallMillis - time(f) > limits.ageMillis;
            boolean full = left > limits.reports || bytes > limits.bytes;
            if (!old && !full) {
                // Names are in the order of times.
                break;
            }
            long size = f.length();
            // Another process may have deleted it, and counted that.
            if (f.delete()) {
                count(old ? "too-old" : "full", 1);
            }
            left--;
            bytes -= size;
        }
    }

    /**
     * Returns the oldest reports.
     *
     * @param bytes the greatest size of their lines; the first report is returned whatever its size is
     * @return null if none waits
     */
    synchronized Batch batch(int most, int bytes, long wallMillis) {
        ready();
        int lost = 0;
        Batch batch = new Batch();
        for (File f : list(REPORT)) {
            if (batch.size() >= most) {
                break;
            }
            if (waits(f, wallMillis)) {
                continue;
            }
            byte[] content = DiskFile.read(f, 2 * Report.MAX_BYTES);
            if (content == null && f.length() <= 2 * Report.MAX_BYTES) {
                // It is gone, or cannot be read now.
                continue;
            }
            byte[] line = checked(content);
            if (line == null) {
                lost += f.delete() ? 1 : 0;
            } else if (batch.size() > 0 && batch.bytes() + line.length > bytes) {
                break;
            } else {
                batch.add(f, line);
            }
        }
        if (lost > 0) {
            count("torn", lost);
            save();
        }
        return batch.size() == 0 ? null : batch;
    }

    /** Reports whether a report waits for the end of its incident. */
    private boolean waits(File report, long wallMillis) {
        long age = wallMillis - time(report);
        return report.getName().endsWith(OPEN + REPORT) && age >= 0 && age < limits.endMillis;
    }

    /** Returns how many reports can be sent now. */
    synchronized int waiting(long wallMillis) {
        int n = 0;
        for (File f : list(REPORT)) {
            n += waits(f, wallMillis) ? 0 : 1;
        }
        return n;
    }

    /** Returns when the oldest report that can be sent was written, in milliseconds since 1970; -1 if there is none. */
    synchronized long oldest(long wallMillis) {
        for (File f : list(REPORT)) {
            if (!waits(f, wallMillis)) {
                return time(f);
            }
        }
        return -1;
    }

    /**
     * Deletes the reports of a batch that is done with, and counts those that were refused for ever. Returns false if
     * one cannot be deleted.
     */
    synchronized boolean done(Batch batch, int refused) {
        ready();
        boolean gone = true;
        for (File f : batch.files()) {
            gone &= f.delete() || !f.exists();
        }
        if (refused > 0) {
            count("refused", refused);
            save();
        }
        return gone;
    }

    /** Returns all files of reports, the oldest first. For tests. */
    List<File> files() {
        return Collections.unmodifiableList(Arrays.asList(list(REPORT)));
    }
}
