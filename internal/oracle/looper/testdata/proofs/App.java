import android.content.Context;
import android.content.res.AssetManager;
import java.io.File;

/** As much of an app's context as the runtime asks for. */
final class App extends android.app.Application {
    final File files;

    App(File files) {
        this.files = files;
    }

    @Override
    public Context getApplicationContext() {
        return this;
    }

    @Override
    public String getPackageName() {
        return "dev.tracegen.proofs";
    }

    @Override
    public File getFilesDir() {
        return files;
    }

    /** There are none: the class path has the configuration. */
    @Override
    public AssetManager getAssets() {
        return null;
    }
}
