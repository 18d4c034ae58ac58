package dev.tracegen.runtime;

/**
 * Finds messages on threads without a Looper, in the records of their calls. The jar for JVMs has a subclass; on
 * Android no calls are messages.
 */
abstract class CallMessages {
    /** Reads what it needs from the disk. On the writer's thread, before any record is added. */
    abstract void open(RecorderOptions options);

    /** Returns what finds the messages of a thread. */
    abstract OfThread ofThread();

    /** Finds the messages of one thread. It is given all records of the thread. */
    abstract static class OfThread {
        /**
         * Takes a sample of the thread's CPU time.
         *
         * @param nanos when it was taken, in {@link Platform#nanoTime()}; later than the records that are added next
         * @param cpuNanos CPU time of the thread in nanoseconds, -1 if unknown
         */
        abstract void sampleCpu(long nanos, long cpuNanos);

        /**
         * Adds the next record.
         *
         * @param record the record, see {@link RecordCopy}
         * @param nanos its time in {@link Platform#nanoTime()}
         * @return the message that ends with this record, which is valid until the next call; null if none does
         */
        abstract MessageHistory.Entry add(long record, long recordNumber, long nanos);

        /** Forgets the open calls. To be called when records were lost. */
        abstract void reset();

        /** Returns when the open message began, in {@link Platform#nanoTime()}; 0 if none is open. */
        abstract long since();

        /** Returns the open message. */
        abstract MessageRecord running(long nanos);

        /** Returns what the open message says. */
        abstract String text();

        /** Returns the number of the message that is open, or of the next one if none is. */
        abstract long number();
    }
}
