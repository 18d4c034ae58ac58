package dev.tracegen.runtime.android;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.net.TrafficStats;
import android.os.Build;
import android.util.Log;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.report.About;
import dev.tracegen.runtime.report.HttpUploader;
import dev.tracegen.runtime.report.Moment;
import dev.tracegen.runtime.report.Outbox;
import dev.tracegen.runtime.report.RemoteConfig;
import dev.tracegen.runtime.report.Reporter;
import dev.tracegen.runtime.report.Sampling;
import dev.tracegen.runtime.report.Sender;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLConnection;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Reports stalls and incidents of a session as its {@link RecorderOptions} say: it writes and sends them. It applies
 * the settings of the collector. All methods run on threads that may access the disk, but for {@link #stop}.
 */
final class Reporting extends Reports implements RemoteConfig.Listener {
    /** What an untagged socket would be reported for by {@code StrictMode}. */
    private static final int SOCKET_TAG = 0x74676e;

    /** The last one that has a sender. A session that was killed by a setting leaves it running. */
    private static final AtomicReference<Reporting> CURRENT = new AtomicReference<Reporting>();

    private final AndroidPlatform platform = new AndroidPlatform();
    private Context context;
    private Session session;
    private String process;
    private RecorderOptions base;
    private Outbox outbox;
    private HttpUploader http;
    private RemoteConfig remote;
    private About about;
    private RecorderOptions settings;
    private volatile Reporter reporter;
    private volatile Sender sender;
    private volatile boolean stopped;

    @Override
    boolean open(Context context, Session session, RecorderOptions config, String process) {
        this.context = context;
        this.session = session;
        this.process = process;
        base = config.copy();
        settings = base;
        about = about();
        if (!config.flag("enabled")) {
            return false;
        }
        boolean debuggable = (context.getApplicationInfo().flags & ApplicationInfo.FLAG_DEBUGGABLE) != 0;
        try {
            http = new Tagged(base.get("upload"), base.get("upload-token"), debuggable);
        } catch (IllegalArgumentException e) {
            Log.w(TracegenRuntime.TAG, TracegenRuntime.FILE + ": upload=" + base.get("upload") + ": " + e.getMessage());
            return false;
        }
        if (base.get("config-key").length() > 0) {
            applyRemote(config);
        }
        outbox = new Outbox(directory(), process, settings);
        if (base.flag("upload-user")) {
            about.set("user", String.format(java.util.Locale.ROOT, "%016x", outbox.installation()));
        }
        return true;
    }

    private File directory() {
        return new File(OutputPath.directory(context), "tracegen/outbox");
    }

    private void applyRemote(RecorderOptions config) {
        try {
            remote = new RemoteConfig(directory(), base.get("config-key"), context.getPackageName(), platform,
                    new Random());
        } catch (IllegalArgumentException e) {
            Log.w(TracegenRuntime.TAG, TracegenRuntime.FILE + ": config-key: " + e.getMessage());
            return;
        }
        Map<String, String> facts = new TreeMap<String, String>();
        for (String key : new String[] {"versionCode", "sdk", "device"}) {
            Object value = about.get(key);
            if (value != null) {
                facts.put(key, value.toString());
            }
        }
        remote.source(http, facts, this);
        Properties p = remote.begin();
        if (p.isEmpty()) {
            return;
        }
        about.set("config", p.getProperty("serial"));
        if (RemoteConfig.switchesOff(p)) {
            Log.i(TracegenRuntime.TAG, "recording is switched off by the settings with serial "
                    + p.getProperty("serial"));
            config.set("enabled", "false");
            return;
        }
        settings = base.copy().applyRemote(p);
        config.applyRemote(p);
        RemoteConfig.methodsOff(p);
    }

    private About about() {
        String build = base.get("build-id");
        About a = new About().set("package", context.getPackageName());
        a.set("buildId", build.length() == 0 ? null : build);
        try {
            PackageInfo info = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
            a.set("versionName", info.versionName).set("versionCode", Integer.toString(info.versionCode));
        } catch (Throwable e) {
            // Unknown values are absent.
        }
        a.set("manufacturer", Build.MANUFACTURER).set("device", Build.MODEL).set("abi", abi());
        a.set("sdk", Build.VERSION.SDK_INT).set("process", process);
        try {
            a.set("pid", ExitInfo.pid());
        } catch (Throwable e) {
            // As above.
        }
        return a;
    }

    /** Returns the ABI of this process. Build.SUPPORTED_ABIS begins with that of the device. */
    @SuppressWarnings("deprecation")
    private static String abi() {
        return Build.CPU_ABI;
    }

    @Override
    void begin(Recorder r, File recordings) {
        if (r != null || remote != null) {
            Moment moment = new GoodMoment(context, base.get("upload-network").equals("any"));
            Sender s = new Sender(outbox, http, moment, platform, settings, new Random()).config(remote)
                    .configOnly(r == null).recordings(base.flag("upload-recordings") ? recordings : null);
            if (r != null) {
                reporter = new Reporter(r, outbox, about).sampling(Sampling.of(settings)).sender(s);
                Session.reporterSet();
                Recorder.setReporter(reporter, reporter);
            }
            sender = s;
            Reporting before = CURRENT.getAndSet(this);
            if (before != null && before != this) {
                before.stop();
            }
            s.start();
        }
        if (stopped) {
            stop();
        }
    }

    @Override
    void stop() {
        stopped = true;
        Sender s = sender;
        if (s != null) {
            s.stop();
        }
        CURRENT.compareAndSet(this, null);
    }

    /** Ends reports, but goes on to fetch settings. */
    private void stopReports() {
        Recorder.setReporter(null, null);
        Sender s = sender;
        if (s != null) {
            s.configOnly(true);
        }
    }

    /** Called on the sender's thread. */
    @Override
    public void accepted(Properties p) {
        about.set("config", p.getProperty("serial"));
        if (RemoteConfig.switchesOff(p)) {
            Log.i(TracegenRuntime.TAG, "recording stops, because the settings with serial " + p.getProperty("serial")
                    + " switch it off");
            stopReports();
            session.switchedOff();
            return;
        }
        settings = base.copy().applyRemote(p);
        Reporter r = reporter;
        if (r != null) {
            r.sampling(Sampling.of(settings));
        }
        RemoteConfig.methodsOff(p);
    }

    /** Tags its sockets, so that the traffic is known by its purpose. */
    private static final class Tagged extends HttpUploader {
        Tagged(String address, String token, boolean plain) {
            super(address, token, plain);
        }

        @Override
        protected URLConnection open(URL url) throws IOException {
            try {
                TrafficStats.setThreadStatsTag(SOCKET_TAG);
            } catch (Throwable e) {
                // It is only counted with the rest then.
            }
            return super.open(url);
        }
    }
}
