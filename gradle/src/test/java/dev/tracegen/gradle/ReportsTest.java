package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportsTest {
    private static final String ENTRY = "  \"leftOut\": [\n    {\n      \"input\": \"%s\",\n"
            + "      \"entry\": \"a[1]$\"\n    }\n  ],\n";

    @TempDir
    Path directory;

    @Test
    void whatAMergeLeavesOutIsInTheReport() throws IOException {
        File merged = write("merge.json", "{\n" + String.format(ENTRY, "/x/0af3.jar") + "  \"warnings\": []\n}\n");
        File report = write("report.json", "{\n  \"leftOut\": [],\n  \"warnings\": [\n    \"w\"\n  ]\n}\n");
        for (int i = 0; i < 2; i++) {
            Reports.takeLeftOut(merged, Collections.singletonMap("/x/0af3.jar", "gson.jar"), report);
            assertEquals("{\n" + String.format(ENTRY, "gson.jar") + "  \"warnings\": [\n    \"w\"\n  ]\n}\n",
                    new String(Files.readAllBytes(report.toPath()), StandardCharsets.UTF_8));
        }
    }

    @Test
    void theScopeChangesWithItsNameOrNumbers() throws IOException {
        String text = "{\n  \"options\": {\n    \"scope\": \"own\"\n  },\n  \"totals\": {\n    \"traced\": 7\n  },\n"
                + "  \"scope\": {\n    \"own\": {\n      \"traced\": 3\n    },\n    \"libraries\": {\n"
                + "      \"traced\": 4\n    }\n  },\n  \"warnings\": []\n}\n";
        String first = Reports.scope(write("first.json", text));
        assertEquals(first, Reports.scope(write("other.json", text.replace("[]", "[\"w\"]").replace("7", "8"))));
        assertNotEquals(first, Reports.scope(write("name.json", text.replace("\"own\"\n", "\"all\"\n"))));
        assertNotEquals(first, Reports.scope(write("own.json", text.replace("3", "2"))));
        assertNotEquals(first, Reports.scope(write("libraries.json", text.replace("4", "5"))));
        assertEquals("", Reports.scope(directory.resolve("none.json").toFile()));
    }

    private File write(String name, String text) throws IOException {
        return Files.write(directory.resolve(name), text.getBytes(StandardCharsets.UTF_8)).toFile();
    }
}
