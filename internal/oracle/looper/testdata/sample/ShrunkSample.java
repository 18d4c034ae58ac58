import sample.Sample;

/** The sample app as R8 has shrunk it with the runtime. The class that posts the work is not instrumented. */
public final class ShrunkSample {
    public void theAppRuns() throws Exception {
        SampleRun.run(true, "0 1");
    }
}
