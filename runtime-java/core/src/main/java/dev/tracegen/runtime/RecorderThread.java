package dev.tracegen.runtime;

/**
 * A daemon thread whose calls are never recorded: the recorder's own threads, and those of detectors and of what sends
 * reports.
 */
public final class RecorderThread extends Thread {
    /** Creates a thread and does not start it. */
    public RecorderThread(Runnable work, String name) {
        super(work, name);
        setDaemon(true);
    }
}
