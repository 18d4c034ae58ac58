package plant;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** A function for H2 that makes more garbage than the heap has room for. */
public final class Cache {
    private Cache() {
    }

    public static int rebuild() {
        List<byte[]> kept = new ArrayList<>();
        for (int k = 0; k < 200; k++) {
            kept.add(new byte[1 << 20]);
        }
        return fill(kept);
    }

    private static int fill(List<byte[]> kept) {
        int sum = kept.size();
        // Until the program has collected for two thirds of its life.
        while (collectedMillis() * 3 < 2 * ManagementFactory.getRuntimeMXBean().getUptime()) {
            sum += churn();
        }
        return sum;
    }

    private static int churn() {
        System.gc();
        return new byte[1 << 16].length;
    }

    private static long collectedMillis() {
        long sum = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += bean.getCollectionTime();
        }
        return sum;
    }
}
