package gradleboot;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.internal.StartParameterInternal;
import org.gradle.api.logging.LogLevel;
import org.gradle.api.logging.configuration.ConsoleOutput;
import org.gradle.api.logging.configuration.ShowStacktrace;
import org.gradle.initialization.DefaultBuildCancellationToken;
import org.gradle.initialization.DefaultBuildRequestContext;
import org.gradle.initialization.DefaultBuildRequestMetaData;
import org.gradle.initialization.NoOpBuildEventConsumer;
import org.gradle.internal.buildoption.Option;
import org.gradle.internal.buildprocess.BuildProcessState;
import org.gradle.internal.classpath.ClassPath;
import org.gradle.internal.instrumentation.agent.AgentStatus;
import org.gradle.internal.logging.LoggingManagerInternal;
import org.gradle.internal.logging.services.LoggingServiceRegistry;
import org.gradle.internal.nativeintegration.services.NativeServices;
import org.gradle.internal.service.ServiceRegistry;
import org.gradle.launcher.exec.BuildActionResult;
import org.gradle.launcher.exec.BuildExecutor;
import org.gradle.launcher.exec.DefaultBuildActionParameters;
import org.gradle.tooling.internal.provider.action.ExecuteBuildAction;

/** Runs one build in this process, for Gradle versions whose API jar has no command line. */
public class GradleBoot {
    public static void main(String[] arguments) throws Exception {
        StartParameterInternal start = new StartParameterInternal();
        List<String> tasks = new ArrayList<>();
        LogLevel level = LogLevel.LIFECYCLE;
        start.setGradleUserHomeDir(new File(System.getenv("GRADLE_USER_HOME")));
        for (String argument : arguments) {
            if (argument.equals("--build-cache")) {
                start.setBuildCacheEnabled(true);
            } else if (argument.equals("--configuration-cache")) {
                start.setConfigurationCache(Option.Value.value(true));
            } else if (argument.equals("--info")) {
                level = LogLevel.INFO;
            } else if (argument.equals("--offline")) {
                start.setOffline(true);
            } else if (argument.equals("--stacktrace")) {
                start.setShowStacktrace(ShowStacktrace.ALWAYS);
            } else if (argument.startsWith("-P")) {
                String[] property = argument.substring(2).split("=", 2);
                start.getProjectProperties().put(property[0], property.length > 1 ? property[1] : "");
            } else if (argument.startsWith("-")) {
                throw new IllegalArgumentException("GradleBoot has no option " + argument);
            } else {
                tasks.add(argument);
            }
        }
        File directory = new File("").getAbsoluteFile();
        start.setCurrentDir(directory);
        start.setProjectDir(directory);
        start.setTaskNames(tasks);
        start.setConsoleOutput(ConsoleOutput.Plain);
        start.setLogLevel(level);
        NativeServices.initializeOnDaemon(start.getGradleUserHomeDir(),
                NativeServices.NativeServicesMode.fromSystemProperties());
        ServiceRegistry logging = LoggingServiceRegistry.newCommandLineProcessLogging();
        LoggingManagerInternal manager = (LoggingManagerInternal) logging.getFactory(LoggingManagerInternal.class)
                .create();
        manager.setLevelInternal(level);
        manager.start();
        manager.attachProcessConsole(ConsoleOutput.Plain);
        int code = 0;
        try (BuildProcessState state = new BuildProcessState(true, AgentStatus.disabled(), ClassPath.EMPTY, logging,
                NativeServices.getInstance())) {
            BuildActionResult result = state.getServices().get(BuildExecutor.class).execute(
                    new ExecuteBuildAction(start),
                    new DefaultBuildActionParameters(System.getProperties(), System.getenv(), directory, level, false,
                            ClassPath.EMPTY),
                    new DefaultBuildRequestContext(new DefaultBuildRequestMetaData(System.currentTimeMillis()),
                            new DefaultBuildCancellationToken(), new NoOpBuildEventConsumer()));
            if (result.hasFailure()) {
                code = 1;
            }
        } finally {
            manager.stop();
        }
        System.exit(code);
    }
}
