package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MappingInfoTest {
    @Test
    void theDigestIsZerosUntilStamped() {
        assertEquals("0000000000000000", MappingInfo.digest());
    }
}
