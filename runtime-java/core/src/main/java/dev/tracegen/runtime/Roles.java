package dev.tracegen.runtime;

/** The threads of a recorder that work on what was recorded: the sampler, the writer and the delivery. */
final class Roles {
    final Sampler sampler;
    final Writer writer;
    private final Delivery delivery;

    /**
     * Creates the roles. {@link #start} starts their threads.
     *
     * @param before those of the recorder before, null if there was none
     */
    Roles(Recorder recorder, Ticker ticker, Roles before) {
        writer = new Writer(recorder, ticker, before == null ? null : before.writer);
        delivery = new Delivery(recorder);
        sampler = new Sampler(recorder, ticker, writer, delivery);
    }

    /** Starts the threads. If one cannot be started, those that run end at once, and the failure is thrown. */
    void start() {
        boolean done = false;
        try {
            writer.start();
            delivery.start();
            sampler.start();
            done = true;
        } finally {
            if (!done) {
                writer.finish();
                delivery.finish();
            }
        }
    }

    /** Waits until a recorder that was stopped has written and delivered everything. */
    void awaitEnd(long millis) throws InterruptedException {
        long end = System.nanoTime() + millis * 1000000L;
        sampler.join(millis);
        writer.join((end - System.nanoTime()) / 1000000L);
        delivery.join((end - System.nanoTime()) / 1000000L);
    }
}
