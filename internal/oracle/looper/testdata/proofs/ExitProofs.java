import dev.tracegen.device.Device;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.UnfinishedRecording;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.io.FileOutputStream;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * The next start of an app one of whose processes was killed: the system says how that process ended. The Go test has
 * killed it, and reads the recording afterwards. Properties say what the system says.
 */
public final class ExitProofs {
    private static final String PROCESS = System.getProperty("proofs.process");

    /** As HangProofs has it. */
    private final App app = new App(new File(System.getProperty("java.io.tmpdir"), "proofs-hang"));

    private static Map<String, Object> exit(int pid, int reason, long at) {
        Map<String, Object> facts = new HashMap<String, Object>();
        facts.put("Pid", pid);
        facts.put("Reason", reason);
        facts.put("Timestamp", at);
        facts.put("ProcessName", PROCESS);
        facts.put("PackageName", "dev.tracegen.proofs");
        return facts;
    }

    public void theEndOfAnEarlierProcessIsAppended() throws Exception {
        if (System.getProperty("proofs.pid") == null) {
            return;
        }
        final int pid = Integer.getInteger("proofs.pid");
        long at = Long.getLong("proofs.exit.at");
        List<Map<String, Object>> exits = new ArrayList<Map<String, Object>>();
        // Others that the system has: of the same ID long ago and later, and of another process at the same time.
        exits.add(exit(pid, 2, at + 3600000));
        Map<String, Object> other = exit(pid, 4, at);
        other.put("ProcessName", PROCESS + ":push");
        exits.add(other);
        exits.add(exit(pid + 1, 3, at));
        Map<String, Object> own = exit(pid, Integer.getInteger("proofs.exit.reason"), at);
        own.put("Status", 9);
        own.put("Description", "Input dispatching timed out");
        own.put("Importance", 100);
        own.put("Pss", 1234L);
        own.put("Rss", 5678L);
        own.put("Trace", trace());
        exits.add(own);
        exits.add(exit(pid, 10, at - 3600000));
        app.manager = Device.activityManager(app, exits);
        if (Boolean.getBoolean("proofs.exit.start")) {
            start();
        } else {
            ask();
        }
    }

    /** The start of the runtime does it all by itself, some time later. */
    private void start() throws Exception {
        File file = recording();
        Bench.check(!says(file.getParentFile()), "it says already how its process ended");
        Bench.check(TracegenRuntime.start(app, TracegenRuntime.options(app)), "not recording");
        for (long begin = System.nanoTime(); !says(file.getParentFile()); Thread.sleep(100)) {
            Bench.check(System.nanoTime() - begin < 120000000000L, "nothing was appended for two minutes");
        }
        TracegenRuntime.stop();
    }

    /** Reports whether a file of a directory has an EXIT chunk. No file is locked for that. */
    private static boolean says(File directory) throws Exception {
        for (File f : directory.listFiles()) {
            String bytes = new String(java.nio.file.Files.readAllBytes(f.toPath()), "ISO-8859-1");
            if (bytes.contains("TGCK\22\0")) {
                return true;
            }
        }
        return false;
    }

    private void ask() throws Exception {
        File file = recording();
        Class<?> type = Class.forName("dev.tracegen.runtime.android.ExitInfo");
        Constructor<?> make = type.getDeclaredConstructors()[0];
        make.setAccessible(true);
        ((Runnable) make.newInstance(app, file, PROCESS, new RecorderOptions(), 0L)).run();
        Bench.check(UnfinishedRecording.open(file) == null, "nothing was appended to " + file);
        long size = file.length();
        ((Runnable) make.newInstance(app, file, PROCESS, new RecorderOptions(), 0L)).run();
        Bench.equal(file.length(), size, "the size after the same again");
    }

    /** The recording that the earlier process has left. */
    private File recording() throws Exception {
        List<File> found = new ArrayList<File>();
        for (File f : new File(app.getNoBackupFilesDir(), "recordings").listFiles()) {
            UnfinishedRecording r = UnfinishedRecording.open(f);
            if (r != null) {
                r.close();
                found.add(f);
            }
        }
        Bench.equal(found.size(), 1, "unfinished recordings");
        return found.get(0);
    }

    /** A trace as ART writes it, much longer than what is kept of it. */
    private File trace() throws Exception {
        File file = new File(app.files, "trace.gz");
        GZIPOutputStream out = new GZIPOutputStream(new FileOutputStream(file));
        StringBuilder b = new StringBuilder("----- pid " + System.getProperty("proofs.pid") + " -----\n\n"
                + "\"main\" prio=5 tid=1 Sleeping\n  | sysTid=1\n  at java.lang.Thread.sleep(Native method)\n"
                + "  at app.Freeze.stuck(Freeze.java:20)\n  at app.Freeze.open(Freeze.java:11)\n\n");
        for (int k = 0; k < 20000; k++) {
            b.append("\"Thread-").append(k).append("\" prio=5 tid=").append(k + 2).append(" Native\n\n");
        }
        out.write(b.toString().getBytes("UTF-8"));
        out.close();
        return file;
    }

    /**
     * One start of the app after many of its processes were killed. A file has a line for each: its ID, the reason, and
     * the time.
     */
    public void manyAreJoined() throws Exception {
        String list = System.getProperty("proofs.exits");
        if (list == null) {
            return;
        }
        List<Map<String, Object>> exits = new ArrayList<Map<String, Object>>();
        for (String line : java.nio.file.Files.readAllLines(new File(list).toPath())) {
            String[] fields = line.split(" ");
            exits.add(exit(Integer.parseInt(fields[0]), Integer.parseInt(fields[1]), Long.parseLong(fields[2])));
        }
        app.manager = Device.activityManager(app, exits);
        Constructor<?> make = Class.forName("dev.tracegen.runtime.android.ExitInfo").getDeclaredConstructors()[0];
        make.setAccessible(true);
        File output = new File(System.getProperty("proofs.directory"), "app.tgd");
        ((Runnable) make.newInstance(app, output, PROCESS, new RecorderOptions(), 0L)).run();
    }
}
