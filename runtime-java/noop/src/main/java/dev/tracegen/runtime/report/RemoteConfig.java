package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Platform;
import java.io.File;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Signed settings of a collector. The no-op fetches none. */
public final class RemoteConfig {
    /** How long a process must run with new settings before they count as harmless, in milliseconds. */
    public static final long TRIAL_MILLIS = 10000;

    /** Receives settings. */
    public interface Listener {
        /**
         * Is never called.
         *
         * @param settings the settings
         */
        void accepted(Properties settings);
    }

    /**
     * Creates it.
     *
     * @param directory ignored
     * @param process ignored
     * @param publicKey ignored
     * @param packageName ignored
     * @param platform ignored
     * @param random ignored
     */
    public RemoteConfig(File directory, String process, String publicKey, String packageName, Platform platform,
            Random random) {
    }

    /**
     * Does nothing.
     *
     * @param uploader ignored
     * @param facts ignored
     * @param accepted ignored
     * @return this
     */
    public RemoteConfig source(HttpUploader uploader, Map<String, String> facts, @Nullable Listener accepted) {
        return this;
    }

    /**
     * Returns the settings that count, of which there are none.
     *
     * @return no settings
     */
    public Properties begin() {
        return new Properties();
    }

    /**
     * Accepts nothing.
     *
     * @param body ignored
     * @return why not
     */
    public String accept(byte[] body) {
        return "the no-op has no settings";
    }

    /**
     * Reports whether settings switch recording off.
     *
     * @param settings ignored
     * @return false
     */
    public static boolean switchesOff(Properties settings) {
        return false;
    }

    /**
     * Does nothing.
     *
     * @param settings ignored
     * @return false
     */
    public static boolean methodsOff(Properties settings) {
        return false;
    }
}
