package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.Set;

import org.gradle.api.GradleException;
import org.junit.jupiter.api.Test;

class VariantNamesTest {
    private static final Set<String> NAMES = VariantNames.of(Arrays.asList("debug", "release"),
            Arrays.asList(Arrays.asList("demo", "full"), Arrays.asList("play", "own")));

    @Test
    void variantsFlavorsAndBuildTypesHaveNames() {
        assertEquals("[debug, release, demo, full, play, own, demoPlay, demoOwn, fullPlay, fullOwn, demoPlayDebug,"
                + " demoPlayRelease, demoOwnDebug, demoOwnRelease, fullPlayDebug, fullPlayRelease, fullOwnDebug,"
                + " fullOwnRelease]", NAMES.toString());
        assertEquals("[debug]", VariantNames.of(Collections.singleton("debug"), Collections.emptyList()).toString());
        VariantNames.check(NAMES, NAMES, "project ':app'");
    }

    @Test
    void aMisspeltNameFailsWithTheNearOne() {
        for (String[] name : new String[][] {{"relase", "release"}, {"Full", "full"}, {"demoPlayRelaese",
                "demoPlayRelease"}, {"demoRelease", "demoOwnRelease"}, {"ownn", "own"}}) {
            GradleException e = assertThrows(GradleException.class,
                    () -> VariantNames.check(Collections.singleton(name[0]), NAMES, "project ':app'"));
            assertTrue(e.getMessage().contains("Did you mean " + name[1] + "?"), e.getMessage());
        }
    }
}
