package dev.tracegen.runtime;

/** Each outermost traced call of a thread is a message, or the calls of methods that were declared. */
final class OutermostCalls extends CallMessages {
    private final String declared;

    /** Null if there are no methods whose calls are messages. */
    private MessageMethods methods;

    /**
     * Creates it without reading anything.
     *
     * @param declared IDs of methods, see {@link MessageMethods}; null for those of the mapping
     */
    OutermostCalls(String declared) {
        this.declared = declared;
    }

    @Override
    void open(RecorderOptions options) {
        methods = MessageMethods.find(options, declared);
        if (methods != null) {
            options.meta("messageMethods", methods.toString());
        }
    }

    @Override
    OfThread ofThread() {
        return new CallsOfThread(methods);
    }
}
