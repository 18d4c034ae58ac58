package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gradle.api.GradleException;
import org.junit.jupiter.api.Test;

class ToolBinaryTest {
    @Test
    void classifiersAreThoseOfOsMavenPlugin() {
        assertEquals("linux-x86_64", ToolBinary.classifier("Linux", "amd64"));
        assertEquals("linux-aarch_64", ToolBinary.classifier("Linux", "aarch64"));
        assertEquals("osx-x86_64", ToolBinary.classifier("Mac OS X", "x86_64"));
        assertEquals("osx-aarch_64", ToolBinary.classifier("Mac OS X", "aarch64"));
        assertEquals("windows-x86_64", ToolBinary.classifier("Windows 11", "amd64"));
        assertEquals("windows-aarch_64", ToolBinary.classifier("Windows 11", "aarch64"));
    }

    @Test
    void otherPlatformsAreNamedWithTheWayOut() {
        String message = assertThrows(GradleException.class, () -> ToolBinary.classifier("AIX", "ppc64")).getMessage();
        assertTrue(message.contains("AIX on ppc64") && message.contains("executable ="), message);
    }

    @Test
    void thePluginHasAVersion() {
        assertTrue(TracegenPlugin.version().matches("[0-9]+[.][0-9]+[.][0-9]+.*"), TracegenPlugin.version());
    }
}
