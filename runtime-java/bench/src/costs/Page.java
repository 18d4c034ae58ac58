package costs;

import java.io.BufferedReader;
import java.io.FileReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes a page of the values that runtime-java/bench/costs has written. Prints Markdown. */
public final class Page {
    private final List<String> conditions = new ArrayList<String>();

    /** All values by group and row, one for each round. */
    private final Map<String, List<Double>> values = new LinkedHashMap<String, List<Double>>();
    private final Map<String, String> units = new LinkedHashMap<String, String>();

    private Page() {
    }

    /** Argument: the file with the values. */
    public static void main(String[] args) throws Exception {
        Page page = new Page();
        page.read(args[0]);
        page.print();
    }

    private void read(String file) throws Exception {
        BufferedReader in = new BufferedReader(new FileReader(file));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] f = line.split("\t");
            if (line.startsWith("#")) {
                conditions.add(line.substring(2));
            } else if (f.length == 5 && !f[0].equals("round")) {
                String key = f[1] + "\t" + f[2];
                if (!values.containsKey(key)) {
                    values.put(key, new ArrayList<Double>());
                }
                values.get(key).add(Double.valueOf(f[3]));
                units.put(key, f[4]);
            }
        }
        in.close();
    }

    private void print() {
        line("# What the runtime costs an app");
        line("");
        line("Made by `runtime-java/bench/costs` from the values in [costs.tsv](costs.tsv). Each value is the "
                + "median of all rounds; the least and the greatest value stand in brackets. A round starts one JVM "
                + "for each row.");
        line("");
        for (String c : conditions) {
            line("- " + c);
        }
        calls();
        messages();
        one("start", "Start on the main thread", "In a process that has just begun: classes are loaded, nothing is "
                + "compiled. On this machine most of it is the JVM's loading of classes.");
        one("memory", "Memory", "Bytes of the heap that are held after a garbage collection, more than before the "
                + "first call. Options: `threads=all`, so that other threads have rings too.");
        one("growth", "A ring that grows", "One entry and one exit on new threads with `threads=all`. The ring of a "
                + "thread is made at its first call and replaced by larger ones.");
    }

    private void calls() {
        head("Calls", "CPU time of one entry and one exit together, by JMH, in nanoseconds. The time of JMH's own loop "
                + "is in all values; it is up to half a nanosecond and depends on where the JVM places its code. In "
                + "the second table there is a call between entry and exit.");
        beside("calls", new String[][] {
            {"main thread", "mainOurs", "mainMatrix"}, {"another thread", "otherOurs", "otherMatrix"},
            {"recording off", "offOurs", "offMatrix"}, {"main thread, the method is switched off", "gatedOurs", ""},
            {"main thread, another method is switched off", "otherGatedOurs", ""},
            {"`threads=chosen`, a chosen thread", "chosenOurs", ""},
            {"`threads=chosen`, another thread", "notChosenOurs", ""}, {"`threads=all`", "allOurs", ""},
            {"JMH's loop alone", "empty", ""}, {"limit: a field and the current thread are compared", "limit", ""},
            {"two empty calls that are not inlined", "floor", ""}}, null);
        beside("calls", new String[][] {
            {"main thread", "mainOursBody", "mainMatrixBody"}, {"another thread", "otherOursBody", "otherMatrixBody"},
            {"recording off", "offOursBody", "offMatrixBody"}, {"the call alone", "body", ""},
            {"limit: a field and the current thread are compared", "limitBody", ""}}, "body");
    }

    private void messages() {
        head("Messages", "CPU time and allocation of the main thread for one message that a handler sends itself, on "
                + "Android 14's own Looper. With a `Printer` the Looper makes the texts, whichever printer it is.");
        line("| | CPU, ns | more than without | allocated, bytes | more than without |");
        line("|---|---|---|---|---|");
        String[][] rows = {{"nothing installed", "none", "none"}, {"a `Printer` that does nothing", "printer", "none"},
            {"tracegen by `Printer`", "oursPrinter", "printer"}, {"Matrix by `Printer`", "matrixPrinter", "printer"}};
        for (String[] r : rows) {
            String key = "messages\t" + r[1];
            String base = "messages\t" + r[2];
            String allocated = ", allocated";
            if (values.containsKey(key)) {
                line("| " + r[0] + " | " + figure(key) + " | " + more(key, base) + " | "
                        + figure(key + allocated) + " | " + more(key + allocated, base + allocated) + " |");
            }
        }
        line("");
        line("*More than without* compares with the printer that does nothing, and these with nothing "
                + "installed.");
    }

    private void one(String group, String title, String text) {
        head(title, text);
        line("| | |");
        line("|---|---|");
        for (String key : values.keySet()) {
            if (key.startsWith(group + "\t")) {
                line("| " + key.split("\t")[1] + " | " + figure(key) + " " + units.get(key) + " |");
            }
        }
    }

    private void beside(String group, String[][] rows, String call) {
        line("| | tracegen | Matrix | ratio |" + (call == null ? "" : " ratio without the call |"));
        line("|---|---|---|---|" + (call == null ? "" : "---|"));
        double less = call == null ? 0 : median(group + "\t" + call);
        for (String[] r : rows) {
            String ours = group + "\t" + r[1];
            String matrix = group + "\t" + r[2];
            boolean both = values.containsKey(matrix);
            if (values.containsKey(ours)) {
                line("| " + r[0] + " | " + figure(ours) + " | " + (both ? figure(matrix) : "") + " | "
                        + (both ? ratio(median(ours) / median(matrix)) : "") + " |"
                        + (call == null ? "" : !both ? " |"
                        : " " + ratio((median(ours) - less) / (median(matrix) - less)) + " |"));
            }
        }
        line("");
    }

    private void head(String title, String text) {
        line("");
        line("## " + title);
        line("");
        line(text);
        line("");
    }

    private double[] sorted(String key) {
        List<Double> list = values.get(key);
        double[] all = new double[list == null ? 0 : list.size()];
        for (int k = 0; k < all.length; k++) {
            all[k] = list.get(k);
        }
        Arrays.sort(all);
        return all;
    }

    private double median(String key) {
        double[] all = sorted(key);
        return all.length == 0 ? 0 : all[all.length / 2];
    }

    private String figure(String key) {
        double[] all = sorted(key);
        String digits = median(key) >= 100 ? "%.0f" : "%.2f";
        return all.length == 0 ? "–" : String.format(digits + " (" + digits + " to " + digits + ")", median(key),
                all[0], all[all.length - 1]);
    }

    private String more(String key, String base) {
        return key.equals(base) ? "" : String.format("%.0f", median(key) - median(base));
    }

    private static String ratio(double r) {
        return String.format("%.2f", r);
    }

    private static void line(String text) {
        System.out.println(text);
    }
}
