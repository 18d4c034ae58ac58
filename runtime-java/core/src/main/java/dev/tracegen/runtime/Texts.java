package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Shortens and redacts texts before they are written or delivered. A history has the same few texts again and again, so
 * results are kept. Each thread that needs it has an object of its own.
 */
final class Texts {
    static final String REDACTED = "(redacted)";

    /** How many results are kept. */
    private static final int MAX_KEPT = 1024;

    private final TextRedactor redactor;
    private final Map<String, String> messages = new HashMap<String, String>();
    private final Map<String, String> others = new HashMap<String, String>();

    Texts(RecorderOptions options) {
        redactor = options.redactor;
    }

    /** Returns the text of a message as it is written; empty for null. */
    String message(String text) {
        if (text == null || text.length() == 0) {
            return "";
        }
        String known = messages.get(text);
        if (known == null) {
            known = redact(TextRedactor.MESSAGE, MessageText.classes(text));
            keep(messages, text, known);
        }
        return known;
    }

    List<MessageRecord> history(List<MessageRecord> all) {
        List<MessageRecord> history = new ArrayList<MessageRecord>(all.size());
        for (MessageRecord m : all) {
            history.add(new MessageRecord(m.kind, m.sequence, m.count, m.beginNanos, m.wallNanos, m.cpuNanos,
                    message(m.description), m.postedBy, m.postedNanos, m.firstRecord, m.endRecord));
        }
        return history;
    }

    List<ThreadStack> stacks(List<ThreadStack> all) {
        List<ThreadStack> stacks = new ArrayList<ThreadStack>(all.size());
        for (ThreadStack s : all) {
            stacks.add(new ThreadStack(thread(s.thread), s.nanos, s.state, s.frames));
        }
        return stacks;
    }

    String scene(String name) {
        return other(TextRedactor.SCENE, name);
    }

    String thread(String name) {
        return other(TextRedactor.THREAD, name);
    }

    String lockOwner(String text) {
        return other(TextRedactor.LOCK_OWNER, text);
    }

    String command(String text) {
        return other(TextRedactor.COMMAND, text);
    }

    String exit(String text) {
        return other(TextRedactor.EXIT, text);
    }

    String incident(String text) {
        return other(TextRedactor.INCIDENT, text);
    }

    /** Returns a text as it is written; null for null. */
    private String other(String kind, String text) {
        if (text == null || redactor == null) {
            return text;
        }
        String key = kind + ' ' + text;
        String known = others.get(key);
        if (known == null) {
            known = redact(kind, text);
            keep(others, key, known);
        }
        return known;
    }

    private static void keep(Map<String, String> results, String text, String result) {
        if (results.size() >= MAX_KEPT) {
            results.clear();
        }
        results.put(text, result);
    }

    private String redact(String kind, String text) {
        if (redactor == null) {
            return text;
        }
        try {
            String result = redactor.redact(kind, text);
            return result == null ? "" : result;
        } catch (Throwable e) {
            return REDACTED;
        }
    }
}
