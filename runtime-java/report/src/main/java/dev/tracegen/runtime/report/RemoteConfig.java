package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Settings that the team changes after the release. The collector serves them, signed with a key whose public half is
 * in the app (docs/reporting.md). Settings count only if the signature is right, the package is this one, the serial is
 * greater than that of all before, and they have not expired. Anything else changes nothing.
 *
 * <p>They can switch recording and methods off, and change thresholds and how much is sent, see
 * {@link RecorderOptions#applyRemote}. Nothing of that adds code that runs, so they can harm no app.
 *
 * <p>All methods but the constructor and {@link #methodsOff} access the disk, {@link #fetch} the network too.
 */
public final class RemoteConfig {
    /** The greatest size of settings with their signature. */
    static final int MAX_BYTES = 256 << 10;

    private static final int MAX_METHODS = 60000;
    private static final long INTERVAL = 6 * 3600000L;
    private static final long RETRY = 3600000L;
    private static final int P256_BITS = 256;

    /** Receives settings that were fetched while the process runs. */
    public interface Listener {
        /** Called on the sender's thread when new settings were accepted. */
        void accepted(Properties settings);
    }

    /** Guards the files, which several objects may use. */
    private static final Object LOCK = new Object();

    private final File directory;
    private final File file;
    private final File stateFile;
    private final PublicKey key;
    private final String packageName;
    private final Platform platform;
    private final Random random;

    private @Nullable HttpUploader http;
    private String query = "";
    private @Nullable Listener listener;

    private long next = -1;
    private String lastReason = "";

    /**
     * Creates it. Accesses nothing.
     *
     * @param directory is created when it is needed; the outbox's, for instance
     * @param publicKey an ECDSA key of the curve P-256: base64 of its X.509 form
     * @param packageName the package that the settings must be for
     * @param random for the times between requests
     * @throws IllegalArgumentException if the key is not one
     */
    public RemoteConfig(File directory, String publicKey, String packageName, Platform platform, Random random) {
        this.directory = directory;
        this.file = new File(directory, "config");
        this.stateFile = new File(directory, "config-state");
        this.key = key(publicKey);
        this.packageName = packageName;
        this.platform = platform;
        this.random = random;
    }

    private static PublicKey key(String text) {
        byte[] encoded = Base64.decode(text);
        try {
            PublicKey key = encoded == null ? null
                    : KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(encoded));
            if (key instanceof ECPublicKey
                    && ((ECPublicKey) key).getParams().getCurve().getField().getFieldSize() == P256_BITS) {
                return key;
            }
        } catch (GeneralSecurityException e) {
            // As below.
        }
        throw new IllegalArgumentException("must be the base64 of a public ECDSA key of the curve P-256 in X.509 form");
    }

    /**
     * Sets where settings are fetched.
     *
     * @param uploader of the collector
     * @param facts what the collector may decide by: {@code versionCode}, {@code sdk}, {@code device}
     * @param accepted is called when new settings have come; null for none
     */
    public RemoteConfig source(HttpUploader uploader, Map<String, String> facts, @Nullable Listener accepted) {
        StringBuilder b = new StringBuilder("package=" + encode(packageName));
        for (Map.Entry<String, String> e : facts.entrySet()) {
            b.append('&').append(encode(e.getKey())).append('=').append(encode(e.getValue()));
        }
        http = uploader;
        query = b.toString();
        listener = accepted;
        return this;
    }

    private static String encode(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Returns the settings that count now.
     *
     * @return keys and values; empty if there are none. Settings that have expired remain only as far as they switch
     *     recording off
     */
    public Properties begin() {
        synchronized (LOCK) {
            Properties stored = stored();
            boolean counts = stored != null && (switchesOff(stored)
                    || DiskFile.number(stored, "expires", 0) > platform.wallMillis());
            return counts ? stored : new Properties();
        }
    }

    /** Returns the stored settings with the right signature; null if there are none. */
    private @Nullable Properties stored() {
        byte[] body = DiskFile.read(file, MAX_BYTES);
        Properties p = body == null ? null : verified(body);
        return p != null && packageName.equals(p.getProperty("package")) ? p : null;
    }

    /** Returns the settings of a body; null if its signature is wrong or it makes no sense. */
    private @Nullable Properties verified(byte[] body) {
        int end = 0;
        while (end < body.length && body[end] != '\n') {
            end++;
        }
        byte[] signature = Base64.decode(Text.utf8(body, 0, end));
        if (signature == null || end == body.length) {
            return null;
        }
        try {
            Signature s = Signature.getInstance("SHA256withECDSA");
            s.initVerify(key);
            s.update(body, end + 1, body.length - end - 1);
            if (!s.verify(signature)) {
                return null;
            }
            Properties p = new Properties();
            p.load(new ByteArrayInputStream(body, end + 1, body.length - end - 1));
            return p;
        } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * Accepts settings, or changes nothing.
     *
     * @param body a line with the signature, and the settings
     * @return empty if they were accepted; otherwise why not
     */
    public String accept(byte[] body) {
        synchronized (LOCK) {
            return store(body);
        }
    }

    private String store(byte[] body) {
        Properties p = body.length > MAX_BYTES ? null : verified(body);
        if (p == null) {
            return "the signature is wrong";
        }
        if (!packageName.equals(p.getProperty("package"))) {
            return "they are for the package " + p.getProperty("package");
        }
        long serial = DiskFile.number(p, "serial", 0);
        Properties before = stored();
        long last = Math.max(before == null ? 0 : DiskFile.number(before, "serial", 0),
                DiskFile.number(DiskFile.properties(stateFile), "serial", 0));
        if (serial < 1) {
            return "they have no serial";
        }
        if (serial <= last) {
            return "their serial is " + serial + ", and " + last + " was accepted before";
        }
        if (DiskFile.number(p, "expires", 0) <= platform.wallMillis()) {
            return "they have expired";
        }
        try {
            directory.mkdirs();
            DiskFile.replace(file, new File(file.getPath() + DiskFile.TEMPORARY), body, true);
        } catch (IOException e) {
            return "they cannot be stored: " + e;
        }
        Properties state = DiskFile.properties(stateFile);
        state.setProperty("serial", Long.toString(serial));
        save(stateFile, state);
        return "";
    }

    /** Replaces a file. Of all processes only the one that sends changes the state. */
    private void save(File to, Properties p) {
        try {
            DiskFile.replace(to, new File(to.getPath() + DiskFile.TEMPORARY), DiskFile.content(p), true);
        } catch (IOException e) {
            // Then only this process knows.
        }
    }

    /** Reports whether settings are to be fetched now. */
    boolean isDue(long wallMillis) {
        if (http == null) {
            return false;
        }
        if (next < 0) {
            next = DiskFile.number(DiskFile.properties(stateFile), "next", 0);
        }
        // If the clock was set back, the wait may seem much longer than any that was chosen.
        return wallMillis >= next || next > wallMillis + 2 * INTERVAL;
    }

    /** Fetches settings, and accepts or refuses them. When to fetch again is written before. */
    void fetch() {
        Properties state = DiskFile.properties(stateFile);
        putOff(state, (long) (RETRY * (0.5 + random.nextDouble() / 2)));
        HttpUploader.Answer a;
        try {
            a = http.config(query, state.getProperty("tag"), MAX_BYTES);
        } catch (IOException e) {
            log("no settings were fetched: " + e);
            return;
        }
        if (a.status != 200 && a.status != 304) {
            log("no settings were fetched: the collector answered " + a.status);
            return;
        }
        if (a.status == 200) {
            String why = accept(a.body);
            if (why.length() > 0) {
                log("the settings of the collector change nothing: " + why);
            }
            // What was refused now may be right later: when the clock was set, for instance.
            state = DiskFile.properties(stateFile);
            boolean tagged = why.length() == 0 && a.tag != null && a.tag.matches("[!-~]{1,200}");
            state.remove("tag");
            if (tagged) {
                state.setProperty("tag", a.tag.replace("\\", "\\\\"));
            }
            putOff(state, (long) (INTERVAL * (0.75 + random.nextDouble() / 4)));
            if (why.length() == 0) {
                apply();
            }
        } else {
            putOff(state, (long) (INTERVAL * (0.75 + random.nextDouble() / 4)));
        }
    }

    private void apply() {
        Properties settings = begin();
        if (listener != null && !settings.isEmpty()) {
            listener.accepted(settings);
        }
    }

    private void putOff(Properties state, long millis) {
        next = platform.wallMillis() + millis;
        state.setProperty("next", Long.toString(next));
        directory.mkdirs();
        save(stateFile, state);
    }

    private void log(String line) {
        if (!line.equals(lastReason)) {
            platform.log(line);
        }
        lastReason = line;
    }

    /**
     * Reports whether settings switch recording off.
     *
     * @param settings from {@link #begin}
     */
    public static boolean switchesOff(Properties settings) {
        return "false".equals(settings.getProperty("enabled", "").trim());
    }

    /**
     * Switches the methods off that settings name, if they are of the mapping of this program.
     *
     * @param settings from {@link #begin}; {@code methods-off} has IDs with commas between, {@code mapping} the digest
     * @return false if the settings have none, or of another mapping
     */
    public static boolean methodsOff(Properties settings) {
        String list = settings.getProperty("methods-off");
        String digest = settings.getProperty("mapping");
        if (list == null || digest == null) {
            return false;
        }
        String[] words = list.trim().length() == 0 ? new String[0] : list.split(",");
        int[] ids = new int[Math.min(words.length, MAX_METHODS)];
        for (int k = 0; k < ids.length; k++) {
            try {
                ids[k] = Integer.parseInt(words[k].trim());
            } catch (NumberFormatException e) {
                // It is no ID, and the recorder ignores 0.
                ids[k] = 0;
            }
        }
        return Recorder.setGate(ids, digest.trim());
    }
}
