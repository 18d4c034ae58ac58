package dev.tracegen.runtime.report;

import dev.tracegen.runtime.CallItem;
import dev.tracegen.runtime.CallTree;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.MappingInfo;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.ThreadStack;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The report of one stall or incident: a JSON object on one line, as docs/report.schema.json has it. It has at most
 * {@link #MAX_BYTES} bytes; lists and texts that do not fit are cut, and its member {@code cut} says how much is
 * missing. Immutable.
 */
public final class Report {
    /** The greatest size of a report in bytes of UTF-8. */
    public static final int MAX_BYTES = 256 << 10;

    /** What {@link #json} may need for the members that are added when the report is stored. */
    private static final int RESERVED = 4 << 10;

    /** In UTF-8 it has at most three times as many bytes. The collector takes 4,000. */
    private static final int MAX_TEXT = 1300;
    private static final int MAX_KEY = 100;
    private static final int MAX_CALLS = 30;
    private static final int MAX_PATH = 256;
    private static final int MAX_FRAMES = 128;
    private static final int MAX_STACKS = 16;
    private static final int MAX_MEMBERS = 128;

    /** Where a list is cut, so that the next ones have room too, as a part of all bytes. */
    private static final int BASIC_LIMIT = MAX_BYTES / 8;
    private static final int FACTS_LIMIT = MAX_BYTES / 2;

    /** The ID, which no other report has. The two reports of an incident that lasts have the same. */
    public final String id;

    /** The kind, for sampling: of a stall {@code message} or {@code idle-handler}; or of the incident. */
    public final String kind;

    /** Equal for reports of the same cause, 16 hexadecimal digits. */
    public final String key;

    /** Whether it has ended. A report of an incident that lasts is replaced when it has. */
    public final boolean ended;

    private final String body;

    private Report(String id, String kind, String key, boolean ended, Json json) {
        this.id = id;
        this.kind = kind;
        this.key = key;
        this.ended = ended;
        this.body = json.toString();
    }

    /** Returns the object with some more members, each preceded by a comma, or none of them. */
    String json(String members) {
        return body + members + "}";
    }

    @Override
    public String toString() {
        return json("");
    }

    /** Makes the report of a stall. */
    public static Report of(Stall stall, Recorder recorder, About about) {
        String kind = kind(stall);
        Writer w = new Writer(recorder);
        w.head(recorder.recordingId() + "-s" + stall.number + "-" + stall.threadIndex, kind, "looper");
        w.basic(about, stall.scene, stall.foreground, stall.thread, stall.description);
        w.timing(stall.beginNanos, stall.wallNanos, true);
        w.json.key("suspendedMillis").millis(stall.suspendedNanos);
        if (stall.cpuNanos >= 0) {
            w.json.key("cpuMillis").millis(stall.cpuNanos);
        }
        if (stall.gcCount >= 0) {
            w.json.key("gcCount").value(stall.gcCount);
        }
        if (stall.gcMillis >= 0) {
            w.json.key("gcMillis").value(stall.gcMillis);
        }
        w.json.close('}');
        w.machine(stall.machine, stall.cpuNanos, stall.wallNanos);
        w.json.key("stack").open('{');
        w.json.key("key").value(stall.stackKey);
        w.calls(stall.tree, stall.tickNanos);
        w.json.text("lockOwner", w.cutText(stall.lockOwner));
        if (stall.postedBy != 0) {
            w.json.key("postedBy").value(stall.postedBy);
        }
        w.samples(stall.samples, stall.beginNanos);
        w.json.close('}');
        w.end(recorder);
        return new Report(w.id, kind, stall.stackKey, true, w.json);
    }

    /** Makes the report of an incident. */
    public static Report of(Incident incident, Recorder recorder, About about) {
        String key = key(incident);
        Writer w = new Writer(recorder);
        w.head(recorder.recordingId() + "-i" + incident.number, incident.kind, incident.detector);
        w.basic(about, incident.scene, incident.foreground, incident.thread(), incident.what);
        boolean ended = incident.endNanos != 0;
        long end = ended ? incident.endNanos : w.platform.nanoTime();
        w.timing(incident.beginNanos, end - incident.beginNanos, ended);
        w.json.close('}');
        w.machine(Collections.<String, String>emptyMap(), -1, 0);
        w.facts(incident.facts);
        w.json.key("stack").open('{');
        w.json.key("key").value(key);
        if (incident.tree != null) {
            w.calls(incident.tree, incident.tickNanos);
        }
        w.samples(incident.stacks, incident.beginNanos);
        w.json.close('}');
        w.end(recorder);
        return new Report(w.id, incident.kind, key, ended, w.json);
    }

    /** Returns the kind of a stall. */
    static String kind(Stall stall) {
        return stall.kind == MessageRecord.IDLE_HANDLER ? "idle-handler" : "message";
    }

    /**
     * Returns a key that is equal for incidents of the same cause: of the hot path if there are calls, otherwise of the
     * kind, what was slow, and the innermost methods of the first stack.
     */
    static String key(Incident incident) {
        if (incident.tree != null && !incident.tree.hotPath().isEmpty()) {
            return incident.tree.stackKey();
        }
        StringBuilder b = new StringBuilder(incident.detector + " " + incident.kind + " " + incident.what);
        if (!incident.stacks.isEmpty()) {
            List<StackTraceElement> frames = incident.stacks.get(0).frames;
            for (StackTraceElement f : frames.subList(0, Math.min(8, frames.size()))) {
                b.append(' ').append(f.getClassName()).append('.').append(f.getMethodName());
            }
        }
        long hash = 0xCBF29CE484222325L;
        for (byte x : Text.utf8(b.toString())) {
            hash = (hash ^ (x & 0xFF)) * 0x100000001B3L;
        }
        return Text.hex(hash);
    }

    /** Writes the members, and counts what is cut. */
    private static final class Writer {
        final Json json = new Json();
        final Platform platform;
        private final TreeMap<String, Integer> cut = new TreeMap<String, Integer>();
        String id;

        Writer(Recorder recorder) {
            platform = recorder.platform();
        }

        void head(String newId, String kind, String detector) {
            id = newId;
            json.open('{').key("format").value("tracegen-report").key("version").value(1);
            json.key("id").value(id).key("kind").value(cutText(kind)).key("detector").value(cutText(detector));
        }

        void basic(About about, String scene, boolean foreground, String thread, String what) {
            Map<String, Object> facts = about.facts();
            // JSON must not have a name twice.
            facts.keySet().removeAll(Arrays.asList("mapping", "scene", "foreground", "thread", "what"));
            json.key("basic").open('{');
            json.key("mapping").value(MappingInfo.digest());
            members(facts, BASIC_LIMIT, "basic");
            json.text("scene", cutText(scene)).key("foreground").value(foreground);
            json.text("thread", cutText(thread)).text("what", cutText(what));
            json.close('}');
        }

        /** Begins the group of times and leaves it open. */
        void timing(long beginNanos, long nanos, boolean ended) {
            long ago = platform.nanoTime() - beginNanos;
            json.key("timing").open('{').key("wallMillis")
                    .value(Math.max(0, platform.wallMillis() - ago / 1000000));
            json.key("durationMillis").millis(Math.max(0, nanos)).key("ended").value(ended);
        }

        void machine(Map<String, ?> machine, long cpuNanos, long wallNanos) {
            json.key("cpu").open('{');
            json.key("processors").value(Runtime.getRuntime().availableProcessors());
            if (cpuNanos >= 0 && wallNanos > 0) {
                json.key("threadPercent").value(Math.min(100, cpuNanos * 100 / wallNanos));
            }
            // JSON must not have a name twice.
            Map<String, Object> facts = new TreeMap<String, Object>(machine);
            facts.keySet().removeAll(Arrays.asList("processors", "threadPercent"));
            members(facts, BASIC_LIMIT + MAX_BYTES / 16, "cpu");
            json.close('}');
        }

        void facts(Map<String, String> facts) {
            json.key("facts").open('{');
            members(facts, FACTS_LIMIT, "facts");
            json.close('}');
        }

        void calls(CallTree tree, long tickNanos) {
            List<Integer> path = tree.hotPath();
            json.key("hotPath").open('[');
            for (int id : path.subList(0, Math.min(path.size(), MAX_PATH))) {
                json.value(id);
            }
            json.close(']');
            count("hotPath", path.size() - MAX_PATH);
            json.key("calls").open('[');
            for (CallItem c : tree.longest(MAX_CALLS)) {
                json.open('{').key("depth").value(c.depth).key("id").value(c.id).key("count").value(c.count);
                json.key("millis").millis(c.ticks * tickNanos).close('}');
            }
            json.close(']');
            count("calls", tree.size() - MAX_CALLS);
        }

        /** Writes stacks. Those of one thread that are equal and follow each other are one with a count. */
        void samples(List<ThreadStack> stacks, long beginNanos) {
            json.key("samples").open('[');
            int written = 0;
            for (int k = 0; k < stacks.size();) {
                ThreadStack s = stacks.get(k);
                int same = k + 1;
                while (same < stacks.size() && stacks.get(same).thread.equals(s.thread)
                        && stacks.get(same).state == s.state && stacks.get(same).frames.equals(s.frames)) {
                    same++;
                }
                long mark = json.mark();
                if (written < MAX_STACKS) {
                    sample(s, same - k, beginNanos);
                }
                if (written >= MAX_STACKS || full()) {
                    json.back(mark);
                    count("samples", stacks.size() - k);
                    break;
                }
                written++;
                k = same;
            }
            json.close(']');
        }

        private void sample(ThreadStack s, int count, long beginNanos) {
            json.open('{').text("thread", cutText(s.thread));
            if (s.state != null) {
                json.key("state").value(s.state.name());
            }
            json.key("nanos").value(s.nanos - beginNanos).key("count").value(count).key("frames").open('[');
            for (StackTraceElement f : s.frames.subList(0, Math.min(s.frames.size(), MAX_FRAMES))) {
                json.value(cutText(frame(f)));
            }
            json.close(']').close('}');
            count("frames", s.frames.size() - MAX_FRAMES);
        }

        /** Returns a frame without the module and class loader that newer JVMs name. */
        private static String frame(StackTraceElement f) {
            String place = f.isNativeMethod() ? "Native Method" : f.getFileName() == null ? "Unknown Source"
                    : f.getFileName() + (f.getLineNumber() < 0 ? "" : ":" + f.getLineNumber());
            return f.getClassName() + "." + f.getMethodName() + "(" + place + ")";
        }

        void end(Recorder recorder) {
            Map<String, String> states = recorder.detectorStates();
            if (!states.isEmpty()) {
                json.key("detectors").open('{');
                members(states, MAX_BYTES - RESERVED / 2, "detectors");
                json.close('}');
            }
            json.key("recording").value(recorder.recordingId());
            if (!cut.isEmpty()) {
                json.key("cut").open('{').members(cut).close('}');
            }
        }

        /** Writes members up to a number of bytes of the whole report. */
        private void members(Map<String, ?> all, int limit, String what) {
            int written = 0;
            for (Map.Entry<String, ?> e : all.entrySet()) {
                Object value = e.getValue();
                if (value == null) {
                    continue;
                }
                long mark = json.mark();
                json.key(e.getKey()).any(value instanceof String ? cutText((String) value) : value);
                if (json.bytes() > limit || written >= MAX_MEMBERS || e.getKey().length() > MAX_KEY) {
                    json.back(mark);
                    count(what, 1);
                } else {
                    written++;
                }
            }
        }

        /** Reports whether no more samples fit. Names of detectors and {@code cut} need some room behind them. */
        private boolean full() {
            return json.bytes() > MAX_BYTES - 4 * RESERVED;
        }

        private String cutText(String text) {
            if (text == null || text.length() <= MAX_TEXT) {
                return text;
            }
            count("texts", 1);
            return text.substring(0, MAX_TEXT);
        }

        private void count(String what, int more) {
            if (more > 0) {
                Integer before = cut.get(what);
                cut.put(what, (before == null ? 0 : before) + more);
            }
        }
    }
}
