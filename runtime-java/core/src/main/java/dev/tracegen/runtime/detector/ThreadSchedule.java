package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.RecorderThread;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** A schedule with a thread of its own, {@code tracegen-detectors}. The thread sleeps until the next work is due. */
public final class ThreadSchedule extends Schedule {
    private final Platform platform;
    private final ScheduledThreadPoolExecutor thread;

    /** Creates a schedule, whose thread starts with the first work. */
    public ThreadSchedule(Platform platform) {
        this.platform = platform;
        thread = new ScheduledThreadPoolExecutor(1, new ThreadFactory() {
            @Override
            public Thread newThread(Runnable work) {
                return new RecorderThread(work, "tracegen-detectors");
            }
        });
        // What was cancelled must not keep its detector alive until it is due.
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public long nanoTime() {
        return platform.nanoTime();
    }

    @Override
    public Task at(long nanos, Runnable work) {
        Future<?> future = null;
        try {
            // What the work throws stays in the future: Detectors handles what detectors throw.
            future = thread.schedule(work, nanos - platform.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The schedule has ended, and nothing runs any more.
        }
        final Future<?> scheduled = future;
        return new Task() {
            @Override
            public void cancel() {
                if (scheduled != null) {
                    scheduled.cancel(false);
                }
            }
        };
    }

    @Override
    public void stop() {
        thread.shutdown();
    }
}
