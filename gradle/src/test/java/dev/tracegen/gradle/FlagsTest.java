package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;

import org.gradle.api.GradleException;
import org.junit.jupiter.api.Test;

class FlagsTest {
    private static final List<String> ALL = Arrays.asList("--set=constructor-entry=after-super",
            "--set=id-order=compact", "-v",
            "--set=allow-huge");

    @Test
    void eachCommandHasItsOptions() {
        assertEquals(Arrays.asList("--set=constructor-entry=after-super", "--set=allow-huge"), Flags.of("scan", ALL));
        assertEquals(Arrays.asList("--set=id-order=compact", "-v"), Flags.of("assign", ALL));
        assertEquals(Arrays.asList("--set=id-order=compact", "-v"), Flags.of("instrument", ALL));
        assertEquals(Arrays.asList("-v"), Flags.of("slice", ALL));
    }

    @Test
    void aValueOfItsOwnIsRefused() {
        assertThrows(GradleException.class, () -> Flags.of("scan", Arrays.asList("--exits", "exact")));
    }
}
