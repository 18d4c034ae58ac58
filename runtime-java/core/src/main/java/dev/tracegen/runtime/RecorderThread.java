package dev.tracegen.runtime;

/** A thread of the recorder. Its calls are never recorded. */
final class RecorderThread extends Thread {
    RecorderThread(Runnable work, String name) {
        super(work, name);
        setDaemon(true);
    }
}
