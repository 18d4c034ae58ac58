import android.content.Context;
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

    /** The ProfilingManager; null if there is none. */
    volatile Object profiling;

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
                : "profiling".equals(name) ? profiling : null;
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
