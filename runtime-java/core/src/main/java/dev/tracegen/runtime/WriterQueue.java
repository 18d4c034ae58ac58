package dev.tracegen.runtime;

import java.util.List;
import java.util.Map;

/**
 * What waits to be written. The sampler hands it over here, and {@link Writer} takes it. The order is kept, so all that
 * a chunk needs before it (the change of a gate before the records behind it, a window before its records, the records
 * of a stall before the stall) is written before it.
 *
 * <p>The queue is bounded. For what the sampler can take later from a ring it asks {@link #hasRoom} first. What exists
 * only once is refused if it does not fit, and counted. The count is written as soon as the writer goes on.
 */
final class WriterQueue {
    /** How many chunks may wait. */
    private static final int MAX_JOBS = 4096;

    /**
     * So many of them are kept free for what exists only once: stalls, samples and signs of life must not be refused
     * because records fill the queue.
     */
    private static final int RESERVED_JOBS = MAX_JOBS / 4;

    /** About how many bytes an object needs that waits, without its arrays. */
    private static final long JOB_BYTES = 100;

    /** About how many bytes a frame of a stack or a text needs. */
    private static final long TEXT_BYTES = 100;

    /** About how many bytes a frame needs whose texts the JVM has anyway. */
    private static final long FRAME_BYTES = 40;

    private final Recorder recorder;
    private final RecorderOptions options;
    private final MemoryBudget memory;
    private final RoleQueue<Job> jobs;

    /** Whether what is handed over will be written. False as soon as it is known that there will be no file. */
    private volatile boolean writes;

    /** Something to write. Immutable, or not changed after it was handed over. */
    abstract static class Job {
        abstract void write(RecordingWriter out);
    }

    WriterQueue(Recorder recorder) {
        this.recorder = recorder;
        this.options = recorder.options();
        this.memory = recorder.rings().memory;
        this.jobs = new RoleQueue<Job>(MAX_JOBS, memory);
        this.writes = options.output != null;
    }

    /** Reports whether there is a file, or may be one soon. If not, nothing needs to be handed over. */
    boolean writes() {
        return writes;
    }

    /** Says whether there is a file. On the writer's thread only. */
    void writes(boolean value) {
        writes = value;
    }

    /** Returns the jobs, for the writer, which takes them. */
    RoleQueue<Job> jobs() {
        return jobs;
    }

    /** Reports whether there is room for what can be taken later. If so, the next few calls without a result fit. */
    boolean hasRoom() {
        return jobs.free() > RESERVED_JOBS && jobs.bytes() < memory.queueBytes() / 2;
    }

    /** Returns how many jobs the writer has done. If that does not grow, it makes no progress. */
    long progress() {
        return jobs.removed();
    }

    /** Hands over what was asked room for. It is not refused because of its bytes, which are bounded. */
    private void put(Job job, long bytes) {
        if (writes && !jobs.add(job, JOB_BYTES + bytes)) {
            throw new IllegalStateException("the writer's queue is full");
        }
    }

    /**
     * Hands over what exists only once, or counts it as dropped. A job that is larger than the queue may be is accepted
     * while the queue is at most half full: otherwise a stall with many records would never be written.
     */
    private boolean offer(Job job, long bytes, int kind, long count) {
        if (!writes) {
            return true;
        }
        long most = memory.queueBytes();
        long used = jobs.bytes();
        boolean fits = used + bytes <= most || used <= most / 2;
        if (fits && jobs.add(job, JOB_BYTES + bytes)) {
            return true;
        }
        recorder.dropped().add(kind, count);
        return false;
    }

    /** Hands over records that were copied from a ring, the next ones of their thread. */
    void records(final ThreadTrace trace, final RecordCopy copy) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.records(trace, copy);
            }
        }, 8L * copy.records.length);
    }

    void gate(final ThreadTrace trace, final Gate.Change change) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.gate(trace, change);
            }
        }, 4L * change.ids.length);
    }

    /** Hands over marks of a thread, before the records that they are about. */
    void coroutines(final ThreadTrace trace, final long[] marks) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.coroutines(trace, marks);
            }
        }, 8L * marks.length);
    }

    /** Hands over which composables a thread executed, before the records that come next. */
    void compositions(final ThreadTrace trace, final long[] executions, final long lost) {
        if (executions.length == 0 && lost == 0) {
            return;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.compositions(trace, executions, lost);
            }
        }, 8L * executions.length);
    }

    void window(final ThreadTrace trace, final Window.Closed window) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.window(trace, window);
            }
        }, 0);
    }

    void leftOut(final Gate.LeftOut calls) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.leftOut(calls.nanos, calls.ids, calls.calls);
            }
        }, 12L * calls.ids.length);
    }

    void letGo(final LetGo.Change change) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.calls.letGo(change);
            }
        }, 4L * change.ids.length);
    }

    /**
     * Hands over times in which the process did not run. Returns false if there is no room; then they are to be handed
     * over later.
     */
    boolean suspended(final List<Suspensions.Time> times) {
        if (jobs.free() == 0) {
            return false;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.times.suspended(times);
            }
        }, 0);
        return true;
    }

    /**
     * Hands over the CPU time of the recorder's other threads, -1 if it is not known. It is the last of all, so that
     * the writer knows its own.
     */
    void cost(final long others) {
        final long agent = Host.get().agentNanos();
        if (agent < 0 || jobs.free() == 0) {
            return;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                long own = options.platform.threadCpuNanos();
                long recorder = Math.min(others, own) < 0 ? -1 : others + own;
                out.times.cost(options.platform.processCpuNanos(), recorder, agent);
            }
        }, 0);
    }

    /** Hands over what ran on a thread, for the end of the recording. */
    void messages(final ThreadTrace trace, final List<MessageRecord> all) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages.ran(trace, all);
            }
        }, TEXT_BYTES * all.size());
    }

    void sample(final StackSample sample) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages.sample(sample);
            }
        }, TEXT_BYTES * sample.stack.length, Dropped.SAMPLES, 1);
    }

    /** Hands over steady samples, before the records behind them. */
    void stacks(final List<SteadySample> samples, final SteadySamples from) {
        long frames = 0;
        for (SteadySample s : samples) {
            frames += 1 + s.stack.length;
        }
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                long before = options.platform.threadCpuNanos();
                out.stacks.write(samples);
                from.wrote(samples.size(), options.platform.threadCpuNanos() - before);
            }
        }, FRAME_BYTES * frames, Dropped.SAMPLES, samples.size());
    }

    void pending(final ThreadTrace trace, final long message, final List<PendingMessage> pending) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages.pending(trace, message, pending);
            }
        }, pending == null ? 0 : TEXT_BYTES * pending.size(), Dropped.SAMPLES, 1);
    }

    /** Hands over what is known of the machine while a message of a thread runs, or when it has ended. */
    void machine(final ThreadTrace trace, final long message, final long nanos, final Map<String, String> facts) {
        if (facts.isEmpty()) {
            return;
        }
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages.machine(trace, message, nanos, facts);
            }
        }, TEXT_BYTES * facts.size(), Dropped.SAMPLES, 1);
    }

    /** Returns false if the sign of life was dropped. */
    boolean alive(final long nanos, final long wallMillis, final List<OpenCall> open) {
        return offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages.alive(nanos, wallMillis, open);
            }
        }, TEXT_BYTES * open.size(), Dropped.SIGNS, open.size());
    }

    void frames(final List<FrameTiming> frames) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.found.frames(frames);
            }
        }, TEXT_BYTES * frames.size(), Dropped.FRAMES, frames.size());
    }

    /**
     * Hands over new records of a message that is still running, if records are written only of stalls.
     *
     * @param first the number of the message's first record
     * @return false if there is no room now; then the same records and those behind them are to be handed over later
     */
    boolean openRecords(final ThreadTrace trace, final StallFacts facts, final long first, final RecordCopy copy) {
        if (!hasRoom()) {
            return false;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                writeOpenRecords(out, trace, facts, first, copy);
            }
        }, copy.bytes());
        return true;
    }

    /**
     * Writes new records of a running message. In a file that does not have the records before them, these come first:
     * they are still in the ring, or were overwritten and are counted. Whether the message has ended meanwhile makes no
     * difference, because records are found by their numbers.
     */
    private static void writeOpenRecords(RecordingWriter out, ThreadTrace trace, StallFacts facts, long first,
            RecordCopy copy) {
        if (facts.writtenFile != out.fileId()) {
            facts.writtenFile = out.fileId();
            facts.written = 0;
        }
        // If this fills the file, the next file has another ID and gets all records of the message again.
        long from = Math.max(first, facts.written);
        long missing = copy.firstSequence - copy.overwritten;
        if (from < missing) {
            RecordCopy before = trace.copy(from, missing).with(trace.existingMarks());
            long end = before.firstSequence + before.records.length;
            if (!out.calls.records(trace,
                    end == missing ? before : new RecordCopy(missing, new long[0], missing - from))) {
                return;
            }
        }
        RecordCopy rest = copy.from(Math.max(from, missing));
        if ((rest.records.length > 0 || rest.overwritten > 0) && !out.calls.records(trace, rest)) {
            // They are still in the ring when the disk works again, or count as overwritten.
            return;
        }
        facts.written = copy.firstSequence + copy.records.length;
    }

    /** Hands over an incident, with its records if those are written only of stalls. */
    void incident(final Incident incident) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                // The time of day of an incident must be right behind a deep sleep, too.
                out.times.clock();
                if (incident.records != null) {
                    out.calls.records(incident.trace, incident.records);
                }
                out.found.incident(incident, recorder.detectorStates());
            }
        }, incident.bytes(), Dropped.INCIDENTS, 1);
    }

    /** Hands over a stall that has ended, with its records if those are written only of stalls. */
    void stall(final EndedStall ended) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                writeStall(out, ended);
            }
        }, ended.bytes(), Dropped.STALLS, 1);
    }

    private void writeStall(RecordingWriter out, EndedStall ended) {
        out.times.clock();
        StallFacts facts = ended.facts;
        if (!options.everyRecord) {
            boolean begun = facts.written > 0 && facts.writtenFile == out.fileId();
            out.calls.records(ended.trace, begun ? ended.records.from(facts.written) : ended.records);
            if (ended.executions.length > 0 || ended.lostExecutions > 0) {
                out.calls.compositions(ended.trace, ended.executions, ended.lostExecutions);
            }
        }
        out.messages.ran(ended.trace, ended.before);
        out.messages.stall(ended.trace, ended.stall(), ended.message);
    }
}
