package dev.tracegen.runtime;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import org.junit.Test;

/** The first test to run makes its thread the main one; JUnit runs all of them on that thread. */
public class AppMethodBeatTest {
    private static final class First extends Activity {
    }

    private static final class Second extends Activity {
    }

    private static int id(long event) {
        return (int) (event >>> 43) & 0xFFFFF;
    }

    private static boolean isEntry(long event) {
        return event < 0;
    }

    private static long millis(long event) {
        return event & (1L << 43) - 1;
    }

    @Test
    public void eventsAreKeptInOrder() {
        AppMethodBeat.i(1);
        AppMethodBeat.i(0xFFFFE);
        AppMethodBeat.o(0xFFFFE);
        AppMethodBeat.o(1);
        long[] events = AppMethodBeat.copy();
        int n = events.length;
        int[] ids = {1, 0xFFFFE, 0xFFFFE, 1};
        boolean[] entries = {true, true, false, false};
        for (int k = 0; k < 4; k++) {
            assertEquals(ids[k], id(events[n - 4 + k]));
            assertEquals(entries[k], isEntry(events[n - 4 + k]));
        }
        assertTrue(millis(events[n - 4]) <= millis(events[n - 1]));
        assertTrue(millis(events[n - 1]) < 3600000L);
    }

    @Test
    public void impossibleIdsAndOtherThreadsAreIgnored() throws Exception {
        AppMethodBeat.i(7);
        int before = AppMethodBeat.copy().length;
        AppMethodBeat.i(0);
        AppMethodBeat.o(-1);
        AppMethodBeat.i(0xFFFFF);
        AppMethodBeat.o(Integer.MIN_VALUE);
        Thread other = new Thread(new Runnable() {
            @Override
            public void run() {
                AppMethodBeat.i(8);
                AppMethodBeat.o(8);
            }
        });
        other.start();
        other.join();
        long[] events = AppMethodBeat.copy();
        assertEquals(before, events.length);
        assertEquals(7, id(events[before - 1]));
    }

    @Test
    public void theRingKeepsTheNewest() {
        for (int k = 1; k <= 200000; k++) {
            AppMethodBeat.i(k);
        }
        long[] events = AppMethodBeat.copy();
        assertEquals(1 << 17, events.length);
        for (int k = 0; k < events.length; k++) {
            assertEquals(200000 - events.length + 1 + k, id(events[k]));
        }
    }

    @Test
    public void focusFollowsTheActivity() {
        First first = new First();
        Second second = new Second();
        AppMethodBeat.at(null, true);
        AppMethodBeat.at(first, true);
        AppMethodBeat.at(first, true);
        assertEquals(First.class, AppMethodBeat.focusedActivity());
        AppMethodBeat.at(second, true);
        AppMethodBeat.at(first, false);
        assertEquals(Second.class, AppMethodBeat.focusedActivity());
        AppMethodBeat.at(second, false);
        assertNull(AppMethodBeat.focusedActivity());
    }

    @Test
    public void theDigestIsZerosUntilStamped() {
        assertEquals("0000000000000000", MappingInfo.digest());
    }
}
