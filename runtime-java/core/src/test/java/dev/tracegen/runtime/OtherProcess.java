package dev.tracegen.runtime;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Another process that writes a recording until it is closed. */
final class OtherProcess implements Closeable {
    private final Process process;

    /** Where the process records, as it says itself. */
    final String said;

    /** Starts a process that records into a file, and returns when the file is open. */
    OtherProcess(File output) throws IOException {
        List<String> command = new ArrayList<String>(java());
        command.add(OtherProcess.class.getName());
        command.add(output.getPath());
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (said == null) {
            throw new IOException("the other process has said nothing");
        }
    }

    /** Returns the command before the main class. A test on ART sets it, because ART has no executable of its own. */
    private static List<String> java() {
        String command = System.getProperty("tracegen.java");
        if (command != null) {
            return Arrays.asList(command.split("\n"));
        }
        return Arrays.asList(new File(System.getProperty("java.home"), "bin/java").getPath(), "-Xmx64m", "-cp",
                location(OtherProcess.class) + File.pathSeparator + location(Recorder.class));
    }

    /** Returns the directory or archive that has a class. */
    private static String location(Class<?> c) {
        String name = "/" + c.getName().replace('.', '/') + ".class";
        URL url = c.getResource(name);
        String path = url.getPath();
        return url.getProtocol().equals("jar") ? path.substring("file:".length(), path.indexOf('!'))
                : path.substring(0, path.length() - name.length());
    }

    void kill() throws Exception {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Records into the file of its argument until its standard input ends. */
    public static void main(String[] args) throws Exception {
        final StringBuilder log = new StringBuilder();
        Platform platform = new Platform() {
            @Override
            public Thread mainThread() {
                return Thread.currentThread();
            }

            @Override
            public void log(String line) {
                log.append(line);
            }
        };
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(platform).output(new File(args[0])), 0);
        System.out.println(w.open() + " " + log);
        while (System.in.read() >= 0) {
            // Until the end.
        }
        w.close();
    }
}
