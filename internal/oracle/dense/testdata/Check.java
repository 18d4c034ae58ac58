import java.nio.file.Paths;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;

/** Checks sources with rules of PMD, on the main thread. */
public final class Check {
    public static void main(String[] args) {
        PMDConfiguration config = new PMDConfiguration();
        config.setThreads(0);
        config.setIgnoreIncrementalAnalysis(true);
        for (String dir : args) {
            config.addInputPath(Paths.get(dir));
        }
        for (String rules : new String[] {"bestpractices", "design", "errorprone"}) {
            config.addRuleSet("category/java/" + rules + ".xml");
        }
        try (PmdAnalysis analysis = PmdAnalysis.create(config)) {
            System.out.println(analysis.performAnalysisAndCollectReport().getViolations().size());
        }
    }
}
