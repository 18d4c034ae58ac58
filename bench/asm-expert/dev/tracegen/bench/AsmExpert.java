package dev.tracegen.bench;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * An instrumenter by a developer who knows ASM well, written for speed: no computation of frames or maxs, the constant
 * pool and untouched methods shared with the reader, other entries copied, stored ones kept stored, own code for zip
 * files, all cores, nothing kept longer than needed. It does not verify, cannot undo, and has no rules.
 *
 * <p>Arguments: a file that lists the jars, the directory for the outputs, the mapping to write, then {@code
 * key=value}: {@code jobs=N} (one per processor), {@code level=-1|0..9} (0 stores), {@code trivial=none|smart}, {@code
 * ids=sorted|counter}, {@code zip=true} to leave classes as they are. IDs by a counter differ from run to run with more
 * than one job, but need no second pass.
 */
public final class AsmExpert {
    /** The number of results that may wait for the one before them to be written. */
    private static final int WINDOW = 1024;

    /** A jar, and with sorted IDs the results of the first pass for the second one, by entry. */
    private record Jar(Path path, ZipFile zip, byte[][] classes, int[][] ids) {
        static Jar open(Path path, boolean sorted) throws IOException {
            ZipFile zip = new ZipFile(path);
            int n = sorted ? zip.entries.size() : 0;
            return new Jar(path, zip, new byte[n][], new int[n][]);
        }
    }

    private final List<Jar> jars;
    private final Tracer tracer;
    private final int jobs;
    private final int level;
    private final boolean zipOnly;
    private final boolean sorted;
    private final AtomicInteger counter = new AtomicInteger();
    private final AtomicInteger changed = new AtomicInteger();
    private final AtomicLong bytesIn = new AtomicLong();
    private final AtomicLong bytesOut = new AtomicLong();
    private final List<Numbered> mapping = new ArrayList<>();

    record Numbered(int id, Tracer.Method method) {}

    private AsmExpert(List<Jar> jars, Tracer tracer, int jobs, int level, boolean zipOnly, boolean sorted) {
        this.jars = jars;
        this.tracer = tracer;
        this.jobs = jobs;
        this.level = level;
        this.zipOnly = zipOnly;
        this.sorted = sorted;
    }

    public static void main(String[] args) throws Exception {
        int jobs = Runtime.getRuntime().availableProcessors();
        int level = Deflater.DEFAULT_COMPRESSION;
        boolean smart = false;
        boolean sorted = true;
        boolean zipOnly = false;
        for (String arg : Arrays.asList(args).subList(3, args.length)) {
            String value = arg.substring(arg.indexOf('=') + 1);
            switch (arg.substring(0, arg.indexOf('='))) {
                case "jobs" -> jobs = Integer.parseInt(value);
                case "level" -> level = Integer.parseInt(value);
                case "trivial" -> smart = value.equals("smart");
                case "ids" -> sorted = value.equals("sorted");
                case "zip" -> zipOnly = Boolean.parseBoolean(value);
                default -> throw new IllegalArgumentException(arg);
            }
        }
        sorted &= !zipOnly;
        List<Jar> jars = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            jars.add(Jar.open(Path.of(line), sorted));
        }
        Tracer tracer = new Tracer("dev/tracegen/runtime/AppMethodBeat", smart);
        AsmExpert expert = new AsmExpert(jars, tracer, jobs, level, zipOnly, sorted);
        if (sorted) {
            expert.number();
        }
        for (Jar jar : jars) {
            expert.write(jar, Path.of(args[1]).resolve(jar.path.getFileName()));
        }
        writeMapping(Path.of(args[2]), expert.mapping);
        System.out.printf("classes=%d methods=%d bytes-in=%d bytes-out=%d%n", expert.changed.get(),
                expert.mapping.size(),
                expert.bytesIn.get(), expert.bytesOut.get());
    }

    private interface Job {
        void run(int index) throws Exception;
    }

    /**
     * Starts threads that run a job for every entry, in order. Each asks the supplier for a job of its own. It acquires
     * a permit of the window before it takes an entry: otherwise the entry that all others wait for might not get one.
     */
    private List<Thread> forEachEntry(ZipFile zip, Semaphore window, Supplier<Job> worker) {
        AtomicInteger next = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < jobs; t++) {
            Thread thread = new Thread(() -> {
                Job job = worker.get();
                while (true) {
                    window.acquireUninterruptibly();
                    int i = next.getAndIncrement();
                    if (i >= zip.entries.size()) {
                        window.release();
                        return;
                    }
                    try {
                        job.run(i);
                    } catch (Exception e) {
                        e.printStackTrace();
                        System.exit(2);
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    /** First pass: collects the methods of all classes, sorts them, and assigns dense IDs. */
    private void number() throws InterruptedException {
        record Place(Jar jar, int entry, int index, Tracer.Method method) {}
        List<Place> places = new ArrayList<>();
        for (Jar jar : jars) {
            List<List<Tracer.Method>> found = scan(jar);
            for (int i = 0; i < found.size(); i++) {
                if (found.get(i) != null) {
                    jar.ids[i] = new int[found.get(i).size()];
                    for (int k = 0; k < jar.ids[i].length; k++) {
                        places.add(new Place(jar, i, k, found.get(i).get(k)));
                    }
                }
            }
        }
        places.sort(Comparator.comparing((Place p) -> p.method.owner()).thenComparing(p -> p.method.name())
                .thenComparing(p -> p.method.descriptor()));
        int id = 0;
        for (Place p : places) {
            p.jar.ids[p.entry][p.index] = ++id;
            mapping.add(new Numbered(id, p.method));
        }
    }

    private List<List<Tracer.Method>> scan(Jar jar) throws InterruptedException {
        ZipFile zip = jar.zip;
        List<List<Tracer.Method>> found = new ArrayList<>(Collections.nCopies(zip.entries.size(), null));
        List<Thread> threads = forEachEntry(zip, new Semaphore(zip.entries.size() + jobs), () -> {
            Inflater inflater = new Inflater(true);
            return i -> {
                if (zip.entries.get(i).isClass()) {
                    jar.classes[i] = zip.inflate(zip.entries.get(i), inflater);
                    found.set(i, tracer.scan(jar.classes[i]));
                }
            };
        });
        for (Thread thread : threads) {
            thread.join();
        }
        return found;
    }

    /** Second pass: rewrite, pack, and write in the order of the input. */
    private void write(Jar jar, Path out) throws Exception {
        int n = jar.zip.entries.size();
        List<CompletableFuture<ZipFile.Packed>> packed = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            packed.add(new CompletableFuture<>());
        }
        Semaphore window = new Semaphore(WINDOW);
        List<Thread> threads = forEachEntry(jar.zip, window, () -> {
            Inflater inflater = new Inflater(true);
            Deflater deflater = level == 0 ? null : new Deflater(level, true);
            CRC32 crc = new CRC32();
            return i -> packed.get(i).complete(pack(jar, i, inflater, deflater, crc));
        });
        try (ZipFile.Writer writer = new ZipFile.Writer(out)) {
            for (int i = 0; i < n; i++) {
                writer.write(packed.get(i).join());
                packed.set(i, null);
                window.release();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private ZipFile.Packed pack(Jar jar, int i, Inflater inflater, Deflater deflater, CRC32 crc) throws Exception {
        ZipFile zip = jar.zip;
        ZipFile.Entry entry = zip.entries.get(i);
        if (!entry.isClass()) {
            return zip.raw(entry);
        }
        byte[] in = sorted ? jar.classes[i] : zip.inflate(entry, inflater);
        byte[] out = in;
        if (!zipOnly) {
            List<Tracer.Method> traced = new ArrayList<>();
            List<Numbered> numbered = new ArrayList<>();
            if (!sorted) {
                int[] last = new int[1];
                out = tracer.rewrite(in, () -> {
                    last[0] = counter.incrementAndGet();
                    numbered.add(new Numbered(last[0], traced.get(traced.size() - 1)));
                    return last[0];
                }, traced);
                synchronized (mapping) {
                    mapping.addAll(numbered);
                }
            } else {
                int[] own = jar.ids[i];
                int[] k = new int[1];
                out = own.length == 0 ? null : tracer.rewrite(in, () -> own[k[0]++], traced);
                jar.classes[i] = null;
            }
            if (out == null) {
                return zip.raw(entry);
            }
            changed.incrementAndGet();
        }
        bytesIn.addAndGet(in.length);
        bytesOut.addAndGet(out.length);
        return ZipFile.pack(entry, out, entry.method() == 0 ? null : deflater, crc);
    }

    static void writeMapping(Path path, List<Numbered> mapping) throws IOException {
        mapping.sort(Comparator.comparingInt(Numbered::id));
        try (BufferedWriter w = Files.newBufferedWriter(path)) {
            for (Numbered m : mapping) {
                Tracer.Method x = m.method;
                w.write(m.id + "," + (x.access() & 0xFFFF) + "," + x.owner().replace('/', '.') + " " + x.name() + " "
                        + x.descriptor().replace('/', '.') + "\n");
            }
        }
    }
}
