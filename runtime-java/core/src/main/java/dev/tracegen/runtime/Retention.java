package dev.tracegen.runtime;

/** Says how many recordings are kept on the disk: by number, by bytes, and by age. Immutable. */
final class Retention {
    private static final long DAY_MILLIS = 86400000L;

    /** An output that is limited as a whole has its recording in so many files, so that most of it can be kept. */
    private static final int FILES_OF_TOTAL = 4;

    // The defaults.
    private static final int FILES = 4;
    private static final long FILE_BYTES = 64L << 20;

    private final int files;
    private final long totalBytes;
    private final long fileBytes;
    private final long ageMillis;
    private final Platform platform;

    Retention(RecorderOptions o) {
        files = o.maxFiles < 0 ? FILES : o.maxFiles;
        totalBytes = Math.max(0, o.keepBytes);
        long most = o.maxFileBytes < 0 ? FILE_BYTES : o.maxFileBytes;
        fileBytes = totalBytes == 0 ? most
                : Math.max(RecorderOptions.MIN_FILE, Math.min(most, totalBytes / FILES_OF_TOTAL));
        ageMillis = Math.max(0, o.keepDays) * DAY_MILLIS;
        platform = o.platform;
    }

    /** Returns the size at which a file is closed and the next one begun. */
    long fileBytes() {
        return fileBytes;
    }

    /** Reports whether the oldest file is to be deleted before another one is begun. */
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
