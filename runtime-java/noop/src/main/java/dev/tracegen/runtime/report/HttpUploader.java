package dev.tracegen.runtime.report;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLConnection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Delivers reports and recordings to a collector. The no-op connects to nothing. */
public class HttpUploader implements Uploader {
    /**
     * Creates an uploader.
     *
     * @param address ignored
     * @param token ignored
     * @param plain ignored
     */
    public HttpUploader(String address, @Nullable String token, boolean plain) {
    }

    /**
     * Is never called.
     *
     * @param url the address
     * @return not connected yet
     * @throws IOException if that fails
     */
    protected URLConnection open(URL url) throws IOException {
        return url.openConnection();
    }

    @Override
    public UploadResult reports(Batch batch) {
        return UploadResult.stop("the no-op sends nothing");
    }

    @Override
    public UploadResult recording(File file, Map<String, String> facts) {
        return UploadResult.stop("the no-op sends nothing");
    }

    @Override
    public String toString() {
        return "nothing";
    }
}
