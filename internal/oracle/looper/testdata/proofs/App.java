import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import android.view.Display;
import java.io.File;

/** The parts of an app's context that the runtime uses. */
public final class App extends android.app.Application {
    final File files;
    volatile AssetManager assets;

    /** Null while the app is in {@code attachBaseContext}. */
    private volatile Context application = this;

    /** The ActivityManager; null if there is none. */
    volatile Object manager;

    /** The ConnectivityManager; null if there is none. */
    volatile Object network;

    /** The last state of the battery; null if there is none. */
    volatile Intent battery;

    /** Where the app cannot make its directory on the external storage, and Android can. Null if it can. */
    volatile File reserved;

    /** The permissions that the app has, separated by blanks. */
    volatile String permissions = "";

    App(File files) {
        this.files = files;
    }

    /** Returns an app that is in {@code attachBaseContext}, until {@link #created}. */
    static App attaching(File files) {
        App app = new App(files);
        app.application = null;
        return app;
    }

    void created() {
        application = this;
    }

    @Override
    public Context getApplicationContext() {
        return application;
    }

    @Override
    public String getPackageName() {
        return "dev.tracegen.proofs";
    }

    @Override
    public File getFilesDir() {
        return files;
    }

    @Override
    public File getNoBackupFilesDir() {
        File dir = new File(files, "no_backup");
        Bench.check(dir.isDirectory() || dir.mkdirs(), "no directory");
        return dir;
    }

    @Override
    public Object getSystemService(String name) {
        return DISPLAY_SERVICE.equals(name) ? new Displays() : ACTIVITY_SERVICE.equals(name) ? manager
                : CONNECTIVITY_SERVICE.equals(name) ? network : null;
    }

    /** Of services that are asked for by their class, from API 23 on. */
    public String getSystemServiceName(Class<?> type) {
        return type == android.app.ActivityManager.class ? ACTIVITY_SERVICE : null;
    }

    @Override
    public int checkCallingOrSelfPermission(String permission) {
        return (" " + permissions + " ").contains(" " + permission + " ") ? PackageManager.PERMISSION_GRANTED
                : PackageManager.PERMISSION_DENIED;
    }

    @Override
    public Intent registerReceiver(BroadcastReceiver receiver, IntentFilter filter) {
        Bench.check(receiver == null, "a receiver");
        return battery;
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return new ApplicationInfo();
    }

    @Override
    public File getExternalFilesDir(String type) {
        File dir = new File(files, "external");
        if (reserved != null) {
            Bench.check(reserved.delete() && dir.mkdirs(), "no directory");
            reserved = null;
        }
        return dir;
    }

    /** As DisplayManager, which needs the resources of a device. The Display is Android's. */
    public static final class Displays {
        public Display getDisplay(int id) throws Exception {
            Class<?> global = Class.forName("android.hardware.display.DisplayManagerGlobal");
            return (Display) global.getMethod("getRealDisplay", int.class)
                    .invoke(global.getMethod("getInstance").invoke(null), id);
        }
    }

    /** ActivityManager asks for it. It is no public API. */
    public int getUserId() {
        return 0;
    }

    /** If there are none, the configuration is that of the class path. */
    @Override
    public AssetManager getAssets() {
        return assets;
    }
}
