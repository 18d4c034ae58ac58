package dev.tracegen.runtime.report;

/** What happened to an upload. Immutable. */
public final class UploadResult {
    /** What to do next. */
    public enum Kind {
        /** It is stored at the receiver. */
        DELIVERED,
        /** It will never be taken. */
        REFUSED,
        /** It may be taken later. */
        LATER,
        /** Nothing will be taken for some time: the address or the token is wrong. */
        STOP,
        /** The batch is too large; a smaller one may be taken. */
        TOO_LARGE
    }

    /** What happened. */
    public final Kind kind;

    /** After which time to try again, in milliseconds; -1 if the receiver did not say it. */
    public final long afterMillis;

    /** How many reports of the batch the receiver refused for ever, if the others are delivered. */
    public final int refused;

    /** Why, for the log. */
    public final String why;

    private UploadResult(Kind kind, long afterMillis, int refused, String why) {
        this.kind = kind;
        this.afterMillis = afterMillis;
        this.refused = refused;
        this.why = why;
    }

    /**
     * Everything is done with.
     *
     * @param refused how many reports of the batch the receiver does not take
     */
    public static UploadResult delivered(int refused) {
        return new UploadResult(Kind.DELIVERED, -1, refused, "delivered");
    }

    /** The receiver never takes it. */
    public static UploadResult refused(String why) {
        return new UploadResult(Kind.REFUSED, -1, 0, why);
    }

    /**
     * It is to be tried again.
     *
     * @param afterMillis not before this time has passed; -1 for the sender's own interval
     */
    public static UploadResult later(long afterMillis, String why) {
        return new UploadResult(Kind.LATER, afterMillis, 0, why);
    }

    /** Nothing is to be sent for an hour. */
    public static UploadResult stop(String why) {
        return new UploadResult(Kind.STOP, -1, 0, why);
    }

    /** The batch is to be halved. */
    public static UploadResult tooLarge(String why) {
        return new UploadResult(Kind.TOO_LARGE, -1, 0, why);
    }
}
