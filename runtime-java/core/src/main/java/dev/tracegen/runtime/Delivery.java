package dev.tracegen.runtime;

import java.util.concurrent.locks.LockSupport;

/**
 * Delivers stalls and incidents to the app on a thread of its own: it calls the app's listeners, which may take long,
 * wait, or throw whatever they like. That delays or costs other deliveries and nothing else: stalls that do not fit
 * into the queue meanwhile are counted.
 */
final class Delivery implements Runnable {
    /** How many stalls may wait. */
    private static final int MAX_STALLS = 1024;

    private static final long FAILURE_NANOS = 100000000L;

    private final Recorder recorder;
    private final Texts texts;
    private final RoleQueue<Job> queue;
    private final Thread thread = new RecorderThread(this, "tracegen-delivery");

    /** Something to be delivered. */
    private abstract static class Job {
        abstract void deliver();
    }

    Delivery(Recorder recorder) {
        this.recorder = recorder;
        this.texts = new Texts(recorder.options());
        this.queue = new RoleQueue<Job>(MAX_STALLS, recorder.rings().memory);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread when it has delivered all that was handed over. On the sampler's thread, as the last call. */
    void finish() {
        queue.close();
    }

    /** Waits until the thread has ended, or for so long. */
    void join(long millis) throws InterruptedException {
        if (Thread.currentThread() != thread) {
            thread.join(Math.max(1, millis));
        }
    }

    /** Reports whether a stall is of use to anything here. */
    boolean wanted() {
        return Listeners.stall != null || Listeners.stallReporter != null;
    }

    /** Hands over a stall, or counts it as dropped. On the sampler's thread only. */
    void stall(final EndedStall ended) {
        if (wanted()) {
            offer(new Job() {
                @Override
                void deliver() {
                    Delivery.this.deliver(ended);
                }
            }, ended.bytes());
        }
    }

    /** Hands over an incident, or counts it as dropped. On the sampler's thread only. */
    void incident(final Incident incident) {
        if (Listeners.incident != null || Listeners.incidentReporter != null) {
            offer(new Job() {
                @Override
                void deliver() {
                    Incident delivered = new Incident(incident, texts, recorder.ticker());
                    call(Listeners.incidentReporter, delivered);
                    call(Listeners.incident, delivered);
                }
            }, incident.bytes());
        }
    }

    private void offer(Job job, long bytes) {
        long most = recorder.rings().memory.queueBytes() / 2;
        long used = queue.bytes();
        boolean fits = used + bytes <= most || used <= most / 2;
        if (!fits || !queue.add(job, bytes)) {
            recorder.dropped().add(Dropped.DELIVERIES, 1);
        }
    }

    @Override
    public void run() {
        for (;;) {
            try {
                Job job = queue.next();
                if (job == null) {
                    return;
                }
                try {
                    job.deliver();
                } finally {
                    queue.remove();
                }
            } catch (Throwable e) {
                recorder.failures.failed(e);
                LockSupport.parkNanos(this, FAILURE_NANOS);
            }
        }
    }

    private void deliver(EndedStall ended) {
        Stall stall = ended.stall(texts);
        call(Listeners.stallReporter, stall);
        call(Listeners.stall, stall);
    }

    private void call(IncidentListener listener, Incident incident) {
        if (listener == null) {
            return;
        }
        try {
            listener.incidentFound(incident);
        } catch (Throwable e) {
            recorder.failures.listenerFailed(e);
        }
    }

    private void call(StallListener listener, Stall stall) {
        if (listener == null) {
            return;
        }
        try {
            listener.stallEnded(stall);
        } catch (Throwable e) {
            recorder.failures.listenerFailed(e);
        }
    }
}
