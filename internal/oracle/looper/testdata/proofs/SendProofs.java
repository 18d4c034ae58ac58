import android.content.Context;
import android.content.Intent;
import android.net.ConnectivityManager;
import android.net.NetworkInfo;
import android.os.BatteryManager;
import android.os.Looper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.tracegen.device.HiddenApi;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import dev.tracegen.runtime.report.Moment;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Reports of an app: they leave it in good moments and never on the main thread, and the collector may change it. */
public final class SendProofs {
    private static final String ANDROID = "dev.tracegen.runtime.android.";

    /** A collector in this process. */
    private static final class Collector implements HttpHandler {
        final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        final List<String> reports = new CopyOnWriteArrayList<String>();
        volatile byte[] config;

        Collector() throws IOException {
            server.createContext("/", this);
            server.start();
        }

        @Override
        public void handle(HttpExchange x) throws IOException {
            if (x.getRequestMethod().equals("GET")) {
                x.sendResponseHeaders(config == null ? 404 : 200, config == null ? -1 : config.length);
                if (config != null) {
                    x.getResponseBody().write(config);
                }
            } else {
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(new GZIPInputStream(x.getRequestBody()), "UTF-8"));
                int n = 0;
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    reports.add(line);
                    n++;
                }
                byte[] answer = ("{\"accepted\":" + n + ",\"duplicates\":0,\"refused\":[]}").getBytes("US-ASCII");
                x.sendResponseHeaders(200, answer.length);
                x.getResponseBody().write(answer);
            }
            x.close();
        }
    }

    private static Properties settings(Collector c) {
        Properties p = new Properties();
        p.setProperty("slow", "100");
        p.setProperty("upload", "http://127.0.0.1:" + c.server.getAddress().getPort());
        p.setProperty("upload-network", "any");
        p.setProperty("upload-wait", "0");
        p.setProperty("upload-enough", "1");
        p.setProperty("build-id", "proof");
        return p;
    }

    /** A message that stalls. */
    private static final class Stalling implements Runnable {
        @Override
        public void run() {
            try {
                Thread.sleep(150);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public void aStallReachesTheCollectorAndTheMainThreadTouchesNoFile() throws Exception {
        final Collector collector = new Collector();
        final RecorderOptions config = new RecorderOptions().apply(settings(collector));
        final StartProofs.Strict strict = new StartProofs.Strict(Looper.getMainLooper().getThread());
        boolean observed = true;
        // It reads its list of members from a file when it is used first. No device has that file.
        HiddenApi.lookups();
        try {
            System.setSecurityManager(strict);
        } catch (UnsupportedOperationException e) {
            observed = false;
            Bench.measured("files on the main thread: not tried, this JDK cannot observe them");
        }
        try {
            final App app = new App(StartProofs.directory());
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    Bench.check(TracegenRuntime.start(app, config), "not recording");
                }
            });
            Bench.settle();
            // The proof's own classes are loaded from files.
            Bench.stallUntil("a report comes", new Stalling(), new Bench.Condition() {
                @Override
                public boolean holds() {
                    return !collector.reports.isEmpty();
                }
            });
            String json = collector.reports.get(0);
            for (String want : new String[] {"\"kind\":\"message\"", "\"package\":\"dev.tracegen.proofs\"",
                "\"buildId\":\"proof\"", "\"sdk\":" + Bench.device.api, "\"mapping\":\"", "\"session\":\"", "\"user\":\"",
                "\"thread\":\"main\"", "\"abi\":\"", "\"process\":\""}) {
                Bench.check(json.contains(want), want + " is not in " + json);
            }
            final File outbox = new File(app.getNoBackupFilesDir(), "tracegen/outbox");
            Bench.until("the report is deleted", new Bench.Condition() {
                @Override
                public boolean holds() {
                    for (String name : outbox.list()) {
                        if (name.endsWith(".report")) {
                            return false;
                        }
                    }
                    return true;
                }
            });
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    TracegenRuntime.stop();
                }
            });
            Bench.ended();
            if (observed && strict.access != null) {
                throw new AssertionError("the main thread accessed " + strict.access.getMessage(), strict.access);
            }
        } finally {
            if (observed) {
                System.setSecurityManager(null);
            }
            collector.server.stop(0);
        }
    }

    /** Returns a ConnectivityManager whose network is as told. */
    private static Object network(final boolean connected, final boolean metered) throws Exception {
        final NetworkInfo info = Objects.bare(NetworkInfo.class);
        set(NetworkInfo.class, info, "mState", connected ? NetworkInfo.State.CONNECTED : NetworkInfo.State.DISCONNECTED);
        Class<?> type = Class.forName("android.net.IConnectivityManager");
        Object service = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new InvocationHandler() {
            @Override
            public Object invoke(Object proxy, Method m, Object[] args) {
                return m.getName().equals("getActiveNetworkInfo") ? info
                        : m.getName().equals("isActiveNetworkMetered") ? metered
                        : m.getReturnType() == boolean.class ? (Object) false : null;
            }
        });
        ConnectivityManager cm = Objects.bare(ConnectivityManager.class);
        set(ConnectivityManager.class, cm, "mService", service);
        return cm;
    }

    private static void set(Class<?> type, Object of, String name, Object value) throws Exception {
        Field f = type.getDeclaredField(name);
        f.setAccessible(true);
        f.set(of, value);
    }

    /** Returns the state of the battery. The extras of Android 6 need a method of System that only ART has. */
    private static Intent battery(final int status, final int level) {
        return new Intent() {
            @Override
            public int getIntExtra(String name, int missing) {
                return name.equals(BatteryManager.EXTRA_STATUS) ? status
                        : name.equals(BatteryManager.EXTRA_LEVEL) ? level
                        : name.equals(BatteryManager.EXTRA_SCALE) ? 100 : missing;
            }
        };
    }

    private static Moment moment(App app, boolean any) throws Exception {
        Constructor<?> c = Class.forName(ANDROID + "GoodMoment").getDeclaredConstructors()[0];
        c.setAccessible(true);
        return (Moment) c.newInstance(app, any);
    }

    public void onlyGoodMomentsAreUsed() throws Exception {
        App app = new App(StartProofs.directory());
        Moment m = moment(app, false);
        Bench.check(m.unsuitable().contains("lacks the permission"), m.unsuitable());
        Bench.equal(moment(app, true).unsuitable(), "", "any network");
        app.permissions = "android.permission.ACCESS_NETWORK_STATE";
        Bench.equal(m.unsuitable(), "there is no network", "no service");
        app.network = network(false, false);
        Bench.equal(m.unsuitable(), "there is no network", "not connected");
        app.network = network(true, true);
        Bench.equal(m.unsuitable(), "the network costs money", "metered");
        Bench.equal(moment(app, true).unsuitable(), "", "any network that is metered");
        app.network = network(true, false);
        Bench.equal(m.unsuitable(), "", "unmetered");
        app.battery = battery(BatteryManager.BATTERY_STATUS_DISCHARGING, 19);
        Bench.equal(m.unsuitable(), "the battery is low", "19 %");
        app.battery = battery(BatteryManager.BATTERY_STATUS_CHARGING, 3);
        Bench.equal(m.unsuitable(), "", "charging");
        app.battery = battery(BatteryManager.BATTERY_STATUS_DISCHARGING, 20);
        Bench.equal(m.unsuitable(), "", "20 %");
    }

    private static byte[] signed(KeyPair pair, String text) throws Exception {
        Signature s = Signature.getInstance("SHA256withECDSA");
        s.initSign(pair.getPrivate());
        s.update(text.getBytes("US-ASCII"));
        return (java.util.Base64.getEncoder().encodeToString(s.sign()) + "\n" + text).getBytes("US-ASCII");
    }

    private static void untilStatus(final String what, final boolean recording) throws Exception {
        Bench.until(what, new Bench.Condition() {
            @Override
            public boolean holds() {
                return AppMethodBeat.status() > 0 == recording;
            }
        });
    }

    public void theCollectorSwitchesRecordingOffAndOn() throws Exception {
        KeyPairGenerator g = KeyPairGenerator.getInstance("EC");
        g.initialize(256);
        KeyPair pair = g.generateKeyPair();
        Collector collector = new Collector();
        String head = "package=dev.tracegen.proofs\nexpires=" + (System.currentTimeMillis() + 10000000L) + "\n";
        collector.config = signed(pair, head + "serial=1\nenabled=false\n");
        Properties p = settings(collector);
        p.setProperty("config-key", java.util.Base64.getEncoder().encodeToString(pair.getPublic().getEncoded()));
        App app = new App(StartProofs.directory());
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().apply(p)), "not recording");
        Bench.settle();
        untilStatus("recording is switched off", false);
        // The next start is off too, and gets newer settings. The wait between two requests is over.
        File outbox = new File(app.getNoBackupFilesDir(), "tracegen/outbox");
        write(new File(outbox, "config-state"), "serial=1\nnext=0\n");
        collector.config = signed(pair, head + "serial=2\nslow=123\nupload=https://example.com\n");
        TracegenRuntime.start(app, new RecorderOptions().apply(p));
        Bench.settle();
        Bench.check(AppMethodBeat.status() <= 0, "recording is on again without newer settings");
        final File config = new File(outbox, "config");
        Bench.until("newer settings come", new Bench.Condition() {
            @Override
            public boolean holds() throws Exception {
                return new String(java.nio.file.Files.readAllBytes(config.toPath()), "US-ASCII").contains("serial=2");
            }
        });
        RecorderOptions c = new RecorderOptions().apply(p);
        Bench.check(TracegenRuntime.start(app, c), "not recording");
        Bench.settle();
        untilStatus("recording is on again", true);
        Bench.equal(Bench.field(c, c.getClass(), "slowMillis"), 123, "the threshold");
        Bench.equal(c.get("upload"), p.getProperty("upload"),
                "the address, which only the app sets");
        TracegenRuntime.stop();
        Bench.ended();
        collector.server.stop(0);
    }

    private static void write(File file, String text) throws Exception {
        FileWriter out = new FileWriter(file);
        out.write(text);
        out.close();
    }
}
