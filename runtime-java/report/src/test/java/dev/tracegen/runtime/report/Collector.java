package dev.tracegen.runtime.report;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;

/**
 * A collector on this machine that answers as a test says: whole, by a status, half, not at all, with a redirect, or
 * without end. It takes the reports of every request that it reads, also of those that it answers badly, because a real
 * one may have stored them when the answer is lost.
 */
final class Collector implements AutoCloseable {
    /** How to answer one request. */
    enum Way {
        WHOLE, HALF, NOTHING, REDIRECT, ENDLESS, NO_JSON, ONE_LESS, REFUSE_ONE
    }

    /** Ways or statuses of the next requests; when it is empty, whole. */
    final Deque<Object> ways = new ArrayDeque<Object>();

    /** The reports by ID, those that were taken. */
    final Map<String, String> taken = Collections.synchronizedMap(new LinkedHashMap<String, String>());

    /** One line for each request. */
    final List<String> requests = Collections.synchronizedList(new ArrayList<String>());

    /** The bodies of recordings by path. */
    final Map<String, byte[]> recordings = Collections.synchronizedMap(new LinkedHashMap<String, byte[]>());

    volatile int refusedAbove = Integer.MAX_VALUE;
    volatile String retryAfter;
    volatile byte[] config;
    volatile String tag = "\"one\"";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    Collector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns an uploader that gives up only after minutes: a machine that has much to do answers late. */
    HttpUploader uploader(String token) {
        return new HttpUploader(address(), token, false, 180000, 180000, 180000);
    }

    private synchronized Object way() {
        return ways.isEmpty() ? Way.WHOLE : ways.remove();
    }

    private void handle(HttpExchange x) throws IOException {
        try {
            String method = x.getRequestMethod();
            String path = x.getRequestURI().toString();
            requests.add(method + " " + path + " " + x.getRequestHeaders().getFirst("Authorization"));
            byte[] body = read(x.getRequestBody());
            if (method.equals("GET")) {
                config(x);
            } else if (method.equals("PUT")) {
                Object way = way();
                if (way instanceof Integer) {
                    status(x, (Integer) way);
                    return;
                }
                recordings.put(path + " " + x.getRequestHeaders().getFirst("Tracegen-Sha256") + " "
                        + x.getRequestHeaders().getFirst("Tracegen-Package") + " "
                        + x.getRequestHeaders().getFirst("Tracegen-Mapping"), unzip(body));
                answer(x, way, "{}");
            } else {
                reports(x, new String(unzip(body), StandardCharsets.UTF_8));
            }
        } finally {
            x.close();
        }
    }

    private void reports(HttpExchange x, String text) throws IOException {
        String[] lines = text.split("\n");
        Object way = way();
        if (lines.length > refusedAbove) {
            way = 413;
        }
        if (way instanceof Integer) {
            status(x, (Integer) way);
            return;
        }
        int accepted = 0;
        int duplicates = 0;
        String refused = "";
        for (int k = 0; k < lines.length; k++) {
            String id = Reports.parse(lines[k]).get("id").toString();
            if (way == Way.REFUSE_ONE && k == 0) {
                refused = "{\"id\":\"" + id + "\",\"why\":\"no\"}";
            } else if (taken.putIfAbsent(id, lines[k]) == null) {
                accepted++;
            } else {
                duplicates++;
            }
        }
        accepted -= way == Way.ONE_LESS ? 1 : 0;
        answer(x, way, "{\"accepted\":" + accepted + ",\"duplicates\":" + duplicates + ",\"refused\":[" + refused
                + "]}");
    }

    private void config(HttpExchange x) throws IOException {
        Object way = way();
        if (way instanceof Integer) {
            status(x, (Integer) way);
        } else if (tag.equals(x.getRequestHeaders().getFirst("If-None-Match"))) {
            status(x, 304);
        } else if (config == null) {
            status(x, 404);
        } else {
            x.getResponseHeaders().set("ETag", tag);
            x.sendResponseHeaders(200, config.length);
            x.getResponseBody().write(config);
        }
    }

    private void status(HttpExchange x, int status) throws IOException {
        if (retryAfter != null) {
            x.getResponseHeaders().set("Retry-After", retryAfter);
        }
        x.sendResponseHeaders(status, -1);
    }

    private void answer(HttpExchange x, Object way, String json) throws IOException {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        if (way == Way.NOTHING) {
            return;
        }
        if (way == Way.REDIRECT) {
            x.getResponseHeaders().set("Location", address() + "/elsewhere");
            status(x, 307);
            return;
        }
        if (way == Way.NO_JSON) {
            bytes = "<html>Login</html>".getBytes(StandardCharsets.UTF_8);
        }
        boolean endless = way == Way.ENDLESS;
        x.sendResponseHeaders(200, endless ? 0 : bytes.length);
        try {
            x.getResponseBody().write(bytes, 0, way == Way.HALF ? bytes.length / 2 : bytes.length);
            for (int k = 0; endless && k < 100000; k++) {
                x.getResponseBody().write(new byte[1024]);
            }
            x.getResponseBody().flush();
        } catch (IOException e) {
            // The client has closed the connection.
        }
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }

    private static byte[] unzip(byte[] body) throws IOException {
        return read(new GZIPInputStream(new ByteArrayInputStream(body)));
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
