package dev.tracegen.runtime;

/**
 * The sample's own recorder, so that its jar stays small: the least that the inserted calls can go to. It
 * keeps the events of the thread that comes first. The runtime for programs is in runtime-java.
 */
public final class AppMethodBeat {
    /** Far more events than the sample has. */
    private static final long[] EVENTS = new long[1 << 17];

    private static final Thread MAIN = Thread.currentThread();

    private static int written;

    static {
        if (System.getProperty("tracegen.output") != null) {
            System.err.println("sample: tracegen.output has no effect: this program has a small recorder of its own, "
                    + "which writes no file; tracegen instrument adds one that does to programs without a recorder");
        }
    }

    private AppMethodBeat() {
    }

    /**
     * A method was entered.
     *
     * @param id the method's ID in the mapping
     */
    public static void i(int id) {
        record(1L << 63 | (long) id << 43);
    }

    /**
     * A method is about to be left.
     *
     * @param id the method's ID in the mapping
     */
    public static void o(int id) {
        record((long) id << 43);
    }

    private static void record(long event) {
        // Null while the initialiser still runs.
        if (EVENTS != null && Thread.currentThread() == MAIN && written < EVENTS.length) {
            EVENTS[written++] = event;
        }
    }

    /**
     * What was recorded, oldest first: bit 63 is set for an entry, bits 43 to 62 are the ID.
     *
     * @return a fresh array
     */
    public static long[] copy() {
        long[] events = new long[written];
        System.arraycopy(EVENTS, 0, events, 0, written);
        return events;
    }
}
