package dev.tracegen.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.logging.SystemStreamLog;
import org.junit.jupiter.api.Test;

class ToolTest {
  /** A log that keeps what is logged, with the level. */
  private static final class Lines extends SystemStreamLog {
    final List<String> lines = new ArrayList<>();

    @Override
    public void info(CharSequence text) {
      lines.add("info " + text);
    }

    @Override
    public void warn(CharSequence text) {
      lines.add("warn " + text);
    }

    @Override
    public void error(CharSequence text) {
      lines.add("error " + text);
    }
  }

  @Test
  void messagesKeepTheirLevel() {
    Lines log = new Lines();
    Tool.Messages messages = new Tool.Messages(log);
    assertEquals("failed without a message", messages.last());
    messages.add("{\"level\":\"warning\",\"message\":\"a\\nb\"}");
    assertEquals("a\nb", messages.last());
    messages.add("{\"level\":\"error\",\"message\":\"c\",\"file\":\"x\"}");
    messages.add("{\"level\":\"info\",\"message\":\"d\"}");
    messages.add("{\"level\":\"notice\",\"message\":\"e\"}");
    messages.add("");
    assertEquals(Arrays.asList("warn a\nb", "error c", "info d", "info e"), log.lines);
    assertEquals("c", messages.last());
  }

  @Test
  void aLineThatIsNoMessageIsAnError() {
    for (String line : Arrays.asList("panic: broken", "{\"level\":1}", "[]", "3", "null", "{\"message\":\"x\"}")) {
      Lines log = new Lines();
      Tool.Messages messages = new Tool.Messages(log);
      messages.add(line);
      assertEquals(Arrays.asList("error " + line), log.lines);
      assertEquals(line, messages.last());
    }
  }
}
