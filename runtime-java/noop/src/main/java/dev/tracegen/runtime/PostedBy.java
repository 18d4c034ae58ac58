package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/** Which methods have posted the messages that wait. All methods do nothing. */
public final class PostedBy {
    /** Recognises what messages are posted to. */
    public interface Targets {
        /**
         * Is never called.
         *
         * @param target any object
         * @return whether it is a Handler
         */
        boolean isHandler(Object target);

        /**
         * Is never called.
         *
         * @param target any object
         * @return whether it posts the Runnables that it gets
         */
        boolean postsRunnables(Object target);

        /**
         * Is never called.
         *
         * @param posted any object
         * @return whether it is a message
         */
        boolean isMessage(Object posted);

        /**
         * Is never called.
         *
         * @param message a message
         * @return its Handler
         */
        @Nullable Object handlerOf(Object message);

        /**
         * Is never called.
         *
         * @param message a message
         * @return its callback
         */
        @Nullable Runnable callbackOf(Object message);

        /**
         * Is never called.
         *
         * @param message a message
         * @return its {@code what}
         */
        int whatOf(Object message);
    }

    private PostedBy() {
    }

    /**
     * Does nothing.
     *
     * @param targets ignored
     */
    public static void begin(Targets targets) {
    }

    /** Does nothing. */
    public static void end() {
    }

    /**
     * Does nothing.
     *
     * @param trace ignored
     * @param text ignored
     */
    public static void began(ThreadTrace trace, String text) {
    }

    /**
     * Does nothing.
     *
     * @param trace ignored
     * @param handler ignored
     * @param callback ignored
     * @param what ignored
     * @param beginNanos ignored
     */
    public static void ended(ThreadTrace trace, @Nullable Object handler, @Nullable Runnable callback, int what,
            long beginNanos) {
    }
}
