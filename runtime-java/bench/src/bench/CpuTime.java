package bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Measures the CPU time of JMH's workers for each operation. Other programs on the machine affect it less than the
 * elapsed time.
 */
public class CpuTime implements InternalProfiler {
    private long before;

    @Override
    public String getDescription() {
        return "CPU time of the workers";
    }

    private static long workers() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().contains("jmh-worker")) {
                sum += threads.getThreadCpuTime(t.getId());
            }
        }
        return sum;
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = workers();
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        double ns = (double) (workers() - before) / result.getMetadata().getAllOps();
        return Collections.singleton(new ScalarResult("cpu", ns, "ns/op", AggregationPolicy.AVG));
    }
}
