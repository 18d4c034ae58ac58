import sample.Sample;

/** The sample app with the runtime that does nothing. */
public final class SilentSample {
    public void theAppRuns() throws Exception {
        SampleRun.run(false, "");
    }
}
