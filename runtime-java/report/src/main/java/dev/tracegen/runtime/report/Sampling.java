package dev.tracegen.runtime.report;

import dev.tracegen.runtime.RecorderOptions;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which reports a user sends. An installation has a random number between 0 and 1, which never changes. It sends the
 * reports of a kind if its number is below the fraction of this kind. So of two kinds with the same fraction a user
 * sends both or none, and a greater fraction adds users and removes none. Immutable.
 */
public final class Sampling {
    /** Everything is sent. */
    public static final Sampling ALL = new Sampling(1, Collections.<String, Double>emptyMap());

    private final double fraction;
    private final Map<String, Double> kinds;

    /**
     * Creates a sampling.
     *
     * @param fraction of users that send reports, for kinds that are not in the map; 0 to 1
     * @param kinds the fractions of single kinds: {@code message}, {@code anr}, for instance
     */
    public Sampling(double fraction, Map<String, Double> kinds) {
        this.fraction = fraction;
        this.kinds = new TreeMap<String, Double>(kinds);
    }

    /**
     * Returns the sampling that options set.
     *
     * @param options with {@code sampling} and {@code sampling.KIND}
     */
    public static Sampling of(RecorderOptions options) {
        Map<String, Double> kinds = new TreeMap<String, Double>();
        for (Map.Entry<String, String> e : options.startingWith("sampling.").entrySet()) {
            kinds.put(e.getKey(), Double.valueOf(e.getValue()));
        }
        return new Sampling(Double.parseDouble(options.get("sampling")), kinds);
    }

    /**
     * Returns the fraction of users that send reports of a kind.
     *
     * @return 0 to 1
     */
    public double of(String kind) {
        Double own = kinds.get(kind);
        return own == null ? fraction : own;
    }

    /**
     * Reports whether an installation sends reports of a kind.
     *
     * @param installation the installation's number, {@link Outbox#installation}
     */
    public boolean takes(String kind, long installation) {
        return (installation >>> 11) * (1.0 / (1L << 53)) < of(kind);
    }

    @Override
    public String toString() {
        return fraction + " " + kinds;
    }
}
