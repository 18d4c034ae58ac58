package dev.tracegen.runtime.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The facts that all reports of a process have: its app, build, device and session. The keys are those of the group
 * {@code basic} of docs/report.schema.json. Complete it before the first report.
 */
public final class About {
    private final Map<String, Object> facts = Collections.synchronizedMap(new LinkedHashMap<String, Object>());

    /** Creates it with a random session. Reads random bytes of the system. */
    public About() {
        facts.put("session", Text.random());
    }

    /**
     * Sets a fact.
     *
     * @param key one of the keys of {@code basic}: {@code versionName}, for instance
     * @param value a String, Number or Boolean; null if it is not known, and then reports do not have it
     */
    public About set(String key, @Nullable Object value) {
        if (value == null) {
            facts.remove(key);
        } else {
            facts.put(key, value);
        }
        return this;
    }

    /**
     * Returns a fact.
     *
     * @return null if it was not set
     */
    public @Nullable Object get(String key) {
        return facts.get(key);
    }

    Map<String, Object> facts() {
        synchronized (facts) {
            return new LinkedHashMap<String, Object>(facts);
        }
    }
}
