package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes the chunks of steady samples, STACKS. What samples have in common is written once: see {@link Node}. */
final class StackChunks {
    /** The table of stacks begins anew when it has so many nodes, to bound its memory. */
    private static final int MAX_NODES = 1 << 14;

    /**
     * It also begins anew when it is so old. A reader that misses a chunk knows no node since then, and can use no
     * sample until the table begins anew. Frames are names that the file has already, so a node is a few bytes.
     */
    private static final long MAX_NANOS = 30_000_000_000L;

    /** Of a deeper stack the innermost frames are written. */
    private static final int MAX_FRAMES = 4096;

    private final RecordingWriter out;
    private final ChunkBytes chunk;

    /** The nodes that are in the file, and those of the chunk that is being made, with their numbers. */
    private final Map<Node, Integer> numbers = new HashMap<Node, Integer>();
    private final List<Node> fresh = new ArrayList<Node>();

    /** When the first sample of the table was taken. */
    private long tableNanos;

    /** A stack: that of the node before it and one more frame, the inner one. */
    private static final class Node {
        final int before;
        final StackTraceElement frame;
        final int line;

        Node(int before, StackTraceElement frame, int line) {
            this.before = before;
            this.frame = frame;
            this.line = line;
        }

        @Override
        public boolean equals(Object o) {
            return o instanceof Node && ((Node) o).isOf(before, line, frame);
        }

        /** The file follows from the class. */
        private boolean isOf(int otherBefore, int otherLine, StackTraceElement other) {
            return before == otherBefore && line == otherLine && frame.getMethodName().equals(other.getMethodName())
                    && frame.getClassName().equals(other.getClassName());
        }

        @Override
        public int hashCode() {
            return ((before * 31 + line) * 31 + frame.getMethodName().hashCode()) * 31
                    + frame.getClassName().hashCode();
        }

        @Override
        public String toString() {
            return line == frame.getLineNumber() ? frame.toString()
                    : new StackTraceElement(frame.getClassName(), frame.getMethodName(), frame.getFileName(), line)
                            .toString();
        }
    }

    StackChunks(RecordingWriter out) {
        this.out = out;
        this.chunk = out.chunk;
    }

    /**
     * Whether all frames have their lines. They are needed to undo what R8 did. Elsewhere than on Android only those of
     * shrunk classes have them: others would multiply the nodes.
     */
    boolean lines = Host.isAndroid();

    /**
     * Reports whether a frame may be of a class that R8 or ProGuard has made: methods that it has inlined are known by
     * the line alone. Compilers name a file with its extension; R8 names no file, or its mapping.
     */
    static boolean isShrunk(StackTraceElement frame) {
        String file = frame.getFileName();
        return file == null || file.indexOf('.') < 0;
    }

    /** Forgets what is in the file, because the next one refers to nothing in it. */
    void beginFile() {
        numbers.clear();
    }

    /**
     * Writes samples, the oldest first. To be called before the records of their threads behind
     * {@link SteadySample#record}.
     *
     * @return false if they could not be written
     */
    boolean write(List<SteadySample> samples) {
        Set<ThreadTrace> about = new LinkedHashSet<ThreadTrace>();
        for (SteadySample s : samples) {
            about.add(s.trace);
        }
        if (!out.begin(about.toArray(new ThreadTrace[0]))) {
            return false;
        }
        long nanos = samples.get(0).nanos;
        if (numbers.size() >= MAX_NODES || nanos - tableNanos >= MAX_NANOS) {
            numbers.clear();
        }
        if (numbers.isEmpty()) {
            tableNanos = nanos;
        }
        boolean written = false;
        try {
            chunkOf(samples);
            written = out.end(RecordingWriter.STACKS, 0);
        } finally {
            if (!written) {
                // The file does not have the new nodes.
                numbers.clear();
            }
        }
        return written;
    }

    private void chunkOf(List<SteadySample> samples) {
        boolean anew = numbers.isEmpty();
        int[] nodes = new int[samples.size()];
        fresh.clear();
        for (int k = 0; k < nodes.length; k++) {
            nodes[k] = node(samples.get(k).stack);
        }
        chunk.u8(anew ? 1 : 0).uv(fresh.size());
        for (Node n : fresh) {
            chunk.uv(n.before).uv(out.string(n.toString()));
        }
        samplesTo(chunk, samples, nodes);
    }

    /** Returns the number of a stack's node. */
    private int node(StackTraceElement[] stack) {
        int number = 0;
        for (int k = Math.min(MAX_FRAMES, stack.length) - 1; k >= 0; k--) {
            int line = stack[k].getLineNumber();
            Node n = new Node(number, stack[k], lines || isShrunk(stack[k]) ? line : Math.min(line, -1));
            Integer known = numbers.get(n);
            if (known == null) {
                fresh.add(n);
                known = numbers.size() + 1;
                numbers.put(n, known);
            }
            number = known;
        }
        return number;
    }

    private static void samplesTo(ChunkBytes to, List<SteadySample> samples, int[] nodes) {
        Map<ThreadTrace, long[]> before = new HashMap<ThreadTrace, long[]>();
        long nanos = 0;
        to.uv(samples.size());
        for (int k = 0; k < nodes.length; k++) {
            SteadySample s = samples.get(k);
            long[] last = before.get(s.trace);
            if (last == null) {
                last = new long[2];
                before.put(s.trace, last);
            }
            to.uv(s.trace.index).sv(s.nanos - nanos).u8(RecordingWriter.code(s.state)).uv(nodes[k])
                    .sv(s.record - last[0]).uv(s.records).sv(s.cpuNanos < 0 ? -1 : s.cpuNanos - last[1]);
            nanos = s.nanos;
            last[0] = s.record;
            last[1] = s.cpuNanos < 0 ? last[1] : s.cpuNanos;
        }
    }
}
