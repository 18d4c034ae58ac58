package dev.tracegen.runtime.report;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLConnection;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Uploads to a collector by HTTP, as docs/reporting.md describes: reports by POST to {@code /v1/reports}, recordings by
 * PUT to {@code /v1/recordings/ID/PART}. The connection is encrypted, unless the collector runs on this machine or the
 * caller allows it. Redirects are not followed: they could lead the token to another host. No answer is read beyond
 * 64 KiB (256 KiB for a configuration), and no request takes longer than five minutes.
 */
public class HttpUploader implements Uploader {
    private static final int CONNECT_MILLIS = 15000;
    private static final int READ_MILLIS = 30000;
    private static final long REQUEST_MILLIS = 300000;
    private static final int MAX_ANSWER = 64 << 10;
    private static final String NAME = "[A-Za-z0-9_-]{1,64}";

    /** The answer to a batch, and the begin of a refused report in it. In a text of JSON, a quote has a backslash. */
    private static final Pattern COUNTS = Pattern.compile("\\s*[{]\\s*\"accepted\"\\s*:\\s*([0-9]{1,9})\\s*,"
            + "\\s*\"duplicates\"\\s*:\\s*([0-9]{1,9})\\s*,\\s*\"refused\"\\s*:\\s*\\[(.*)\\]\\s*[}]\\s*",
            Pattern.DOTALL);
    private static final Pattern REFUSED = Pattern.compile("[{]\\s*\"id\"\\s*:");

    final URL base;
    private final @Nullable String token;
    private final int connectMillis;
    private final int readMillis;
    private final long requestMillis;

    /** What the collector has answered. */
    static final class Answer {
        int status;
        long retryAfter = -1;
        @Nullable String tag;
        /** Null if it was too long. */
        byte @Nullable [] body;
    }

    /** Writes the body of a request. */
    private interface Body {
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * Creates an uploader. Connects to nothing.
     *
     * @param address of the collector, {@code https://reports.example.com}; with a path if it is not at the root
     * @param token is sent with each request; null for none
     * @param plain whether {@code http} is allowed to any host, for debug builds
     * @throws IllegalArgumentException if the address is none, or is not encrypted
     */
    public HttpUploader(String address, @Nullable String token, boolean plain) {
        this(address, token, plain, CONNECT_MILLIS, READ_MILLIS, REQUEST_MILLIS);
    }

    HttpUploader(String address, @Nullable String token, boolean plain, int connectMillis, int readMillis,
            long requestMillis) {
        URL url;
        try {
            url = new URL(address.endsWith("/") ? address.substring(0, address.length() - 1) : address);
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("is no address: " + e.getMessage());
        }
        boolean https = url.getProtocol().equals("https");
        if (!https && !url.getProtocol().equals("http") || url.getHost().length() == 0) {
            throw new IllegalArgumentException("must begin with https:// and a host");
        }
        if (!https && !plain && !isLoopback(url.getHost())) {
            throw new IllegalArgumentException("must begin with https://: reports and the token are sent unencrypted"
                    + " only to this device, or by a debuggable app");
        }
        this.base = url;
        this.token = token == null || token.trim().length() == 0 ? null : token.trim();
        this.connectMillis = connectMillis;
        this.readMillis = readMillis;
        this.requestMillis = requestMillis;
    }

    private static boolean isLoopback(String host) {
        return host.equals("localhost") || host.matches("127[.][0-9]+[.][0-9]+[.][0-9]+") || host.equals("[::1]");
    }

    /**
     * Opens a connection. A subclass may do it in another way, to tag sockets for instance.
     *
     * @return not connected yet
     */
    protected URLConnection open(URL url) throws IOException {
        return url.openConnection();
    }

    @Override
    public UploadResult reports(Batch batch) {
        final byte[] body = batch.gzip();
        Map<String, String> headers = new TreeMap<String, String>();
        headers.put("Content-Type", "application/x-ndjson");
        headers.put("Content-Encoding", "gzip");
        try {
            Answer a = request("POST", "/v1/reports", headers, body.length, new Body() {
                @Override
                public void writeTo(OutputStream out) throws IOException {
                    out.write(body);
                }
            }, MAX_ANSWER);
            return a.status == 200 ? taken(a, batch.size()) : result(a);
        } catch (IOException e) {
            return UploadResult.later(-1, "no answer: " + e);
        }
    }

    /** Reads the answer to a batch: it counts every report of it. */
    private static UploadResult taken(Answer a, int size) {
        Matcher m = COUNTS.matcher(a.body == null ? "" : Text.utf8(a.body, 0, a.body.length));
        if (!m.matches()) {
            return UploadResult.later(-1, "the answer is damaged");
        }
        int refused = 0;
        for (Matcher one = REFUSED.matcher(m.group(3)); one.find(); refused++) {
            // The reasons are of no use here.
        }
        long counted = Long.parseLong(m.group(1)) + Long.parseLong(m.group(2)) + refused;
        return counted == size ? UploadResult.delivered(refused)
                : UploadResult.later(-1, "the collector counted " + counted + " of " + size + " reports");
    }

    /** Says what a status means. */
    private static UploadResult result(Answer a) {
        String why = "the collector answered " + a.status;
        switch (a.status) {
            case 400:
            case 409:
                return UploadResult.refused(why);
            case 413:
                return UploadResult.tooLarge(why);
            case 408:
            case 425:
            case 429:
                return UploadResult.later(a.retryAfter, why);
            default:
                // All others below 500 say that the address or the token is wrong. A later version may have another.
                return a.status >= 500 ? UploadResult.later(a.retryAfter, why) : UploadResult.stop(why);
        }
    }

    @Override
    public UploadResult recording(final File file, Map<String, String> facts) {
        String id = String.valueOf(facts.get("recordingId"));
        String part = facts.containsKey("part") ? facts.get("part") : "1";
        if (!id.matches(NAME) || !part.matches(NAME)) {
            return UploadResult.refused("its ID or part is not one");
        }
        Map<String, String> headers = new TreeMap<String, String>();
        headers.put("Content-Type", "application/octet-stream");
        headers.put("Content-Encoding", "gzip");
        header(headers, "Tracegen-Package", facts.get("package"));
        header(headers, "Tracegen-Mapping", facts.get("mappingId"));
        try {
            headers.put("Tracegen-Sha256", sha256(file));
            Answer a = request("PUT", "/v1/recordings/" + id + "/" + part, headers, -1, new Body() {
                @Override
                public void writeTo(OutputStream out) throws IOException {
                    GZIPOutputStream zip = new GZIPOutputStream(out, 8192);
                    copy(file, zip);
                    zip.finish();
                }
            }, MAX_ANSWER);
            return a.status == 200 ? UploadResult.delivered(0) : result(a);
        } catch (IOException e) {
            return UploadResult.later(-1, "no answer: " + e);
        }
    }

    private static void header(Map<String, String> headers, String name, @Nullable String value) {
        if (value != null && value.matches("[!-~]{1,200}")) {
            headers.put(name, value);
        }
    }

    private static void copy(File file, OutputStream out) throws IOException {
        try (InputStream in = new FileInputStream(file)) {
            byte[] buffer = new byte[8192];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
        }
    }

    private static String sha256(File file) throws IOException {
        try {
            final MessageDigest digest = MessageDigest.getInstance("SHA-256");
            copy(file, new OutputStream() {
                @Override
                public void write(int b) {
                    digest.update((byte) b);
                }

                @Override
                public void write(byte[] b, int from, int n) {
                    digest.update(b, from, n);
                }
            });
            return Text.hex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IOException("this JVM has no SHA-256");
        }
    }

    /** Asks for the configuration. */
    Answer config(String query, @Nullable String tag, int limit) throws IOException {
        Map<String, String> headers = new TreeMap<String, String>();
        header(headers, "If-None-Match", tag);
        return request("GET", "/v1/config?" + query, headers, 0, null, limit);
    }

    /** Sends a request. The length is -1 if it is not known, and then the body is sent in chunks. */
    private Answer request(String method, String path, Map<String, String> headers, int length, @Nullable Body body,
            int limit) throws IOException {
        URLConnection opened = open(new URL(base + path));
        if (!(opened instanceof HttpURLConnection)) {
            throw new IOException("no HTTP: " + opened.getClass());
        }
        final HttpURLConnection c = (HttpURLConnection) opened;
        final CountDownLatch done = new CountDownLatch(1);
        deadline(c, done);
        try {
            c.setRequestMethod(method);
            c.setInstanceFollowRedirects(false);
            c.setUseCaches(false);
            c.setConnectTimeout(connectMillis);
            c.setReadTimeout(readMillis);
            if (token != null) {
                c.setRequestProperty("Authorization", "Bearer " + token);
            }
            for (Map.Entry<String, String> e : headers.entrySet()) {
                c.setRequestProperty(e.getKey(), e.getValue());
            }
            if (body != null) {
                c.setDoOutput(true);
                // Otherwise the body would be kept, and sent a second time to a server that has closed the connection.
                if (length >= 0) {
                    c.setFixedLengthStreamingMode(length);
                } else {
                    c.setChunkedStreamingMode(8192);
                }
                send(c, body);
            }
            return answer(c, limit);
        } finally {
            done.countDown();
            c.disconnect();
        }
    }

    /** Sends the body. A collector that refuses it may answer and close before it has read everything. */
    private static void send(HttpURLConnection c, Body body) throws IOException {
        OutputStream out = c.getOutputStream();
        try {
            body.writeTo(out);
            out.close();
        } catch (IOException e) {
            if (c.getResponseCode() < 0) {
                throw e;
            }
        }
    }

    private static Answer answer(HttpURLConnection c, int limit) throws IOException {
        Answer a = new Answer();
        a.status = c.getResponseCode();
        if (a.status < 0) {
            throw new IOException("the answer is no HTTP");
        }
        a.retryAfter = retryAfter(c.getHeaderField("Retry-After"));
        a.tag = c.getHeaderField("ETag");
        if (a.status != 200) {
            return a;
        }
        try (InputStream in = c.getInputStream()) {
            a.body = DiskFile.read(in, limit);
        }
        String length = c.getHeaderField("Content-Length");
        if (a.body == null) {
            throw new IOException("the answer is longer than " + limit + " bytes");
        }
        boolean encoded = c.getHeaderField("Content-Encoding") != null;
        if (length != null && !encoded && !length.trim().equals(Integer.toString(a.body.length))) {
            throw new IOException("the answer has " + a.body.length + " of " + length + " bytes");
        }
        return a;
    }

    /** Reads how long to wait: a number of seconds. A date, which is rare, is as none. */
    private static long retryAfter(@Nullable String value) {
        if (value == null || !value.trim().matches("[0-9]{1,9}")) {
            return -1;
        }
        return Long.parseLong(value.trim()) * 1000;
    }

    /** Closes a connection when the request takes too long: there is no timeout for writing. */
    private void deadline(final HttpURLConnection c, final CountDownLatch done) {
        Thread t = new Thread("tracegen-deadline") {
            @Override
            public void run() {
                try {
                    if (!done.await(requestMillis, TimeUnit.MILLISECONDS)) {
                        c.disconnect();
                    }
                } catch (InterruptedException e) {
                    c.disconnect();
                }
            }
        };
        t.setDaemon(true);
        t.start();
    }
}
