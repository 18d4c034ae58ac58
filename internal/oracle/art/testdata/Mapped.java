import java.io.BufferedReader;
import java.io.FileReader;
import java.util.TreeSet;

/** Prints the files with code that was compiled ahead of time which this process runs. */
public class Mapped {
    public static void main(String[] args) throws Exception {
        TreeSet<String> files = new TreeSet<String>();
        try (BufferedReader maps = new BufferedReader(new FileReader("/proc/self/maps"))) {
            for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                if (line.contains(" r-xp ") && (line.endsWith(".oat") || line.endsWith(".odex"))) {
                    files.add(line.substring(line.lastIndexOf('/') + 1));
                }
            }
        }
        System.out.println(files);
        System.exit(0);
    }
}
