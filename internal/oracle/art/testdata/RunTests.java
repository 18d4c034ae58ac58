import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the JUnit tests of a class, and prints a line for each. */
public final class RunTests {
    private RunTests() {
    }

    private static final class Printing implements TestExecutionListener {
        @Override
        public void executionSkipped(TestIdentifier test, String why) {
            System.out.println("test " + test.getDisplayName() + " skipped: " + why);
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            Throwable cause = result.getThrowable().orElse(null);
            if (!test.isTest() && cause == null) {
                return;
            }
            String verdict = result.getStatus() == TestExecutionResult.Status.ABORTED ? "skipped: " + cause.getMessage()
                    : cause == null ? "ok" : "FAILED: " + cause;
            System.out.println("test " + test.getDisplayName() + " " + verdict.replace('\n', ' '));
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                cause.printStackTrace(System.out);
            }
        }
    }

    /** The argument is the class. */
    public static void main(String[] args) {
        // The class path has no services: D8 makes jars of classes alone.
        LauncherConfig config = LauncherConfig.builder().enableTestEngineAutoRegistration(false)
                .enableLauncherDiscoveryListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false).enablePostDiscoveryFilterAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false).addTestEngines(new JupiterTestEngine()).build();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(args[0])).build();
        Launcher launcher = LauncherFactory.create(config);
        launcher.execute(request, new Printing());
        System.out.println("end");
        System.exit(0);
    }
}
