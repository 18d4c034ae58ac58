package dev.tracegen.runtime;

/** Says how many recordings are kept on the disk: by number, by bytes, and by age. Immutable. */
final class Retention {
    private static final long DAY_MILLIS = 86400000L;

    /** An output that is limited as a whole has its recording in so many files, so that most of it can be kept. */
    private static final int FILES_OF_TOTAL = 4;

    private final int files;
    private final long totalBytes;
    private final long fileBytes;
    private final long ageMillis;
    private final Platform platform;

    Retention(RecorderOptions o) {
        files = o.maxFiles;
        totalBytes = o.keepBytes;
        fileBytes = o.keepBytes == 0 ? o.maxFileBytes
                : Math.max(RecorderOptions.MIN_FILE, Math.min(o.maxFileBytes, o.keepBytes / FILES_OF_TOTAL));
        ageMillis = o.keepDays * DAY_MILLIS;
        platform = o.platform;
    }

    /** Returns the size at which a file is closed and the next one begun. */
    long fileBytes() {
        return fileBytes;
    }

    /**
     * Reports whether the oldest file is to be deleted before another one is begun.
     *
     * @param count how many files there are
     * @param bytes their size in total
     */
    boolean tooMany(int count, long bytes) {
        return count >= files || totalBytes > 0 && bytes + fileBytes > totalBytes;
    }

    /**
     * Reports whether a file of an earlier run is so old that it is deleted.
     *
     * @param modified when it was written last, in milliseconds since 1970
     */
    boolean tooOld(long modified) {
        return ageMillis > 0 && platform.wallMillis() - modified > ageMillis;
    }
}
