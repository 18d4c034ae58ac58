import android.content.Context;
import android.content.res.AssetManager;
import java.io.File;

/** The parts of an app's context that the runtime uses. */
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

    /** There is no metadata: the configuration is on the class path. */
    @Override
    public AssetManager getAssets() {
        return null;
    }
}
