package it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;

class MainTest {
  @Test
  void theClassUnderTestIsInstrumented() throws Exception {
    String place = Main.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    assertEquals("classes", Paths.get(place).getFileName().toString());
    assertEquals("tracegen", Paths.get(place).getParent().getFileName().toString());
    String text = new String(Files.readAllBytes(Paths.get(place, "it/Main.class")), "ISO-8859-1");
    assertEquals(true, text.contains("dev/tracegen/runtime/AppMethodBeat"));
    Main.main(new String[0]);
  }
}
