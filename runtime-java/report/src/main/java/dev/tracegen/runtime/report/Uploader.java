package dev.tracegen.runtime.report;

import java.io.File;
import java.util.Map;

/**
 * Delivers reports and recordings. All calls come from one thread, the sender's, which may wait. What a call throws
 * counts as {@link UploadResult#later}.
 */
public interface Uploader {
    /**
     * Delivers reports. The same reports may come again, if a process was killed before it could note that they were
     * delivered: their IDs show that.
     *
     * @return what happened to all of them
     */
    UploadResult reports(Batch batch);

    /**
     * Delivers a file of a recording.
     *
     * @param file a recording that no process writes
     * @param facts its META chunk, trace/FORMAT.md: {@code recordingId}, {@code part}, {@code mappingId}, and what the
     *     app has set
     * @return what happened to it
     */
    UploadResult recording(File file, Map<String, String> facts);
}
