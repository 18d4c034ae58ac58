package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CommandTest {
    @Test
    void argumentsOfTheProgramAreCutOff() {
        String[][] wants = {{"com.example.Main --key secret", "com.example.Main"}, {"Main", "Main"},
            {"module/com.example.Main secret", "module/com.example.Main"}, {"/opt/app.jar secret", "app.jar"},
            {"app.jar", "app.jar"}, {"/opt/my tools/app.jar secret other.jar", "app.jar"},
            {"C:\\x\\app.exe secret", new java.io.File("C:\\x\\app.exe").getName()}, {"", ""}, {"null", "null"}};
        for (String[] want : wants) {
            assertEquals(want[1], Command.program(want[0]), want[0]);
        }
    }

    @Test
    void aRecordingInADirectoryHasTheNameOfTheProgram() {
        String[][] wants = {{"com.example.Main secret", "Main"}, {"module/com.example.Main", "Main"},
            {"/opt/my tools/app.jar --key secret", "app"}};
        for (String[] want : wants) {
            assertEquals(want[1], Output.nameOf(new RecorderOptions().meta("sun.java.command", want[0])), want[0]);
        }
    }
}
