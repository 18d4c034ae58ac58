package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.DropLevel;
import dev.tracegen.runtime.FrameTiming;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Counts and figures of frames, compared with plain definitions on random input. */
class FrameArithmeticTest {
    private static final float[] RATES = {30, 60, 90, 120, 144};

    @Test
    void levelsStandForTheSameTimeAtEveryRate() {
        int[] at60 = {0, 3, 9, 24, 42};
        for (DropLevel l : DropLevel.values()) {
            assertEquals(at60[l.ordinal()], l.least(60));
            assertEquals(at60[l.ordinal()], l.least(0));
            assertEquals(2 * at60[l.ordinal()], l.least(120));
            for (float hz : RATES) {
                int least = l.least(hz);
                assertEquals(l, DropLevel.of(least, hz), hz + " Hz");
                assertTrue(least == 0 || DropLevel.of(least - 1, hz).compareTo(l) < 0, hz + " Hz");
                assertEquals(at60[l.ordinal()] / 60.0, least / (double) hz, 1.0 / hz, hz + " Hz");
            }
        }
        assertEquals(DropLevel.FROZEN, DropLevel.of(Integer.MAX_VALUE, 60));
    }

    @Test
    void dropCountsAreThoseOfTheirDefinitionAndNeverMoreThanTheVsyncs() {
        Random random = new Random(1);
        for (int round = 0; round < 20000; round++) {
            float hz = RATES[random.nextInt(RATES.length)];
            // Sixteenths of a vsync, and never exactly at one: the definition does not say what counts there.
            double unit = 1e9 / hz / 16;
            long vsync = 5000000000L + random.nextInt(1000000000);
            BusyVsyncs counter = new BusyVsyncs();
            counter.reset(vsync, hz);
            boolean[] busy = new boolean[4096];
            int ownEnd = 1 + random.nextInt(60);
            int at = ownEnd;
            mark(busy, counter, vsync, unit, 0, ownEnd);
            counter.ownEnded();
            for (int k = random.nextInt(6); k > 0; k--) {
                int begin = at + random.nextInt(40);
                int end = begin + 1 + random.nextInt(random.nextInt(10) == 0 ? 400 : 20);
                mark(busy, counter, vsync, unit, begin, end);
                at = end;
            }
            // The next frame begins when the thread is free, for the last vsync by then or a later one.
            int next = Math.max(1, at / 16 + random.nextInt(3));
            long due = vsync + Math.round(next * 16 * unit);
            int before = 0;
            int others = 0;
            for (int v = 1; v < next; v++) {
                before += busy[16 * v] ? 1 : 0;
            }
            for (int v = next - 1; v > 0 && busy[16 * v] && 16 * v > ownEnd; v--) {
                others++;
            }
            String what = "round " + round + ", " + hz + " Hz, next " + next;
            assertEquals(before, counter.before(due), what);
            assertEquals(others, counter.others(due), what);
            assertTrue(counter.others(due) <= counter.before(due) && counter.before(due) <= next - 1, what);
        }
    }

    private static void mark(boolean[] busy, BusyVsyncs counter, long vsync, double unit, int begin, int end) {
        counter.add(vsync + Math.round((begin + 0.5) * unit), vsync + Math.round((end + 0.5) * unit));
        for (int k = begin + 1; k <= end; k++) {
            busy[k] = true;
        }
    }

    @Test
    void figuresAreThoseOfTheirDefinition() {
        Random random = new Random(2);
        for (int round = 0; round < 2000; round++) {
            FrameStatistics s = new FrameStatistics();
            float hz = RATES[random.nextInt(RATES.length)];
            long interval = (long) (1e9 / hz);
            long vsync = 5000000000L;
            int n = 1 + random.nextInt(30);
            long sum = 0;
            long worst = 0;
            long late = 0;
            long drawing = 0;
            long begin = 0;
            for (int k = 0; k < n; k++) {
                int dropped = random.nextInt(4) == 0 ? random.nextInt(60) : 0;
                boolean idle = random.nextInt(5) == 0;
                long gap = (1 + dropped) * interval + (idle ? 100000000L + random.nextInt(1000000000) : 0);
                vsync += k == 0 ? 0 : gap;
                begin = k == 0 ? vsync : begin;
                long nanos = random.nextInt(400000000);
                s.add(new FrameTiming(vsync, vsync, vsync + nanos, dropped, hz), dropped);
                sum += nanos;
                worst = Math.max(worst, nanos);
                late += dropped;
                drawing += k == 0 || idle ? interval : gap;
            }
            assertEquals(n, s.frames());
            assertEquals(late, s.dropped());
            assertEquals(sum / n, s.meanNanos());
            assertEquals(worst, s.worstNanos());
            assertEquals(drawing, s.drawingNanos());
            int levels = 0;
            for (DropLevel l : DropLevel.values()) {
                levels += s.frames(l);
            }
            assertEquals(n, levels);
            assertTrue(s.drawingNanos() <= vsync - begin + interval, "more drawing than time");
            assertTrue(s.dropped() <= (vsync - begin) / interval + 60, "more dropped frames than vsyncs");
        }
    }
}
