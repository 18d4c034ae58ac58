import sample.Sample;

/** The sample app with the runtime that records. */
public final class RecordedSample {
    public void theAppRuns() throws Exception {
        SampleRun.run(true, "0 1 2");
    }
}
