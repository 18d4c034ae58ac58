package dev.tracegen.maven;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.logging.Log;

/** Runs the tracegen binary and passes its messages on to Maven's log. */
final class Tool {
  private final File executable;
  private final File directory;
  private final Log log;

  /**
   * @param executable the binary
   * @param directory the working directory: relative file names and the default of --config depend on it
   */
  Tool(File executable, File directory, Log log) {
    this.executable = executable;
    this.directory = directory;
    this.log = log;
  }

  /**
   * Runs a command and waits for its end.
   *
   * @param command the command and its arguments
   * @param output receives each line of the command's output
   * @throws MojoFailureException if the exit code is 1: everything was written, and a check failed
   * @throws MojoExecutionException if the binary cannot be run, or fails in another way: nothing was written
   */
  void run(List<String> command, Consumer<String> output) throws MojoExecutionException, MojoFailureException {
    List<String> line = new ArrayList<>();
    line.add(executable.getPath());
    line.addAll(command);
    line.add("--log-format");
    line.add("json");
    log.debug("tracegen: " + line);
    Messages messages = new Messages(log);
    int code;
    try {
      code = execute(line, output, messages);
    } catch (IOException e) {
      throw new MojoExecutionException("cannot run " + executable + ": " + e.getMessage()
          + "; set the parameter executable (-Dtracegen.executable) to a tracegen binary for this machine", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MojoExecutionException("interrupted while tracegen " + command.get(0) + " was running", e);
    }
    if (code == 1) {
      throw new MojoFailureException("tracegen " + command.get(0) + ": " + messages.last());
    }
    if (code != 0) {
      throw new MojoExecutionException("tracegen " + command.get(0) + ": " + messages.last() + " (exit code " + code
          + "; nothing was written)");
    }
  }

  private int execute(List<String> line, Consumer<String> out, Messages messages)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(line).directory(directory);
    // The JDK that runs Maven, in which classes are looked up, whatever is on PATH.
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      Thread output = new Thread(() -> eachLine(process.getInputStream(), out), "tracegen output");
      output.start();
      eachLine(process.getErrorStream(), messages::add);
      output.join();
      return process.waitFor();
    } finally {
      process.destroy();
    }
  }

  private void eachLine(InputStream in, Consumer<String> reader) {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String text = lines.readLine(); text != null; text = lines.readLine()) {
        reader.accept(text);
      }
    } catch (IOException e) {
      log.warn("cannot read the output of tracegen: " + e.getMessage());
    }
  }

  /** The messages of the binary on standard error: a JSON object with level and message on each line. */
  static final class Messages {
    private final Log log;
    private String lastError;
    private String lastAny = "failed without a message";

    Messages(Log log) {
      this.log = log;
    }

    /** Logs a line with the level that it has. A line that is no message, for instance of a crash, is an error. */
    void add(String line) {
      String level = "error";
      String text = line;
      try {
        JsonObject message = JsonParser.parseString(line).getAsJsonObject();
        String parsed = message.get("message").getAsString();
        level = message.get("level").getAsString();
        text = parsed;
      } catch (JsonParseException | IllegalStateException | NullPointerException | UnsupportedOperationException e) {
        log.debug("not a message in JSON: " + line);
      }
      if (text.trim().isEmpty()) {
        return;
      }
      lastAny = text;
      switch (level) {
        case "error":
          lastError = text;
          log.error(text);
          break;
        case "warning":
          log.warn(text);
          break;
        case "debug":
          log.debug(text);
          break;
        default:
          log.info(text);
      }
    }

    /** The last error; if there is none, the last message. */
    String last() {
      return lastError != null ? lastError : lastAny;
    }
  }
}
