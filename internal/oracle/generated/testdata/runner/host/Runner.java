package host;

import dev.tracegen.runtime.AppMethodBeat;
import java.io.*;
import java.lang.reflect.*;
import java.util.*;

/**
 * Reads programs from its input: name of the class with the entry point, its method, number of variants; for each
 * variant its name, and its classes. Each variant must do what the first does, and one that begins with "exact" must
 * have an exit for each entry. With an argument, a hash of what each variant did is printed as well.
 */
public final class Runner {
    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        int programs = 0;
        long thrown = 0;
        long calls = 0;
        for (int n = in.readInt(); n > 0; n--) {
            String name = in.readUTF();
            String method = in.readUTF();
            String want = null;
            int entries = -1;
            for (int v = in.readInt(); v > 0; v--) {
                String variant = in.readUTF();
                Map<String, byte[]> classes = new LinkedHashMap<>();
                for (int c = in.readInt(); c > 0; c--) {
                    String className = in.readUTF();
                    byte[] data = new byte[in.readInt()];
                    in.readFully(data);
                    classes.put(className, data);
                }
                String got = run(classes, name, method);
                if (args.length > 0) {
                    System.out.println("=\t" + name + "\t" + variant + "\t" + got.length() + "/" + got.hashCode());
                }
                if (want == null) {
                    want = got;
                    thrown += got.contains("THROWN") ? 1 : 0;
                    if (got.startsWith("LINK")) {
                        System.out.println(name + "\toriginal\t" + line(got));
                    }
                    continue;
                }
                if (!want.equals(got)) {
                    System.out.println(name + "\t" + variant + "\tdiffers: " + line(difference(want, got)));
                }
                if (variant.startsWith("exact") && !AppMethodBeat.balanced()) {
                    System.out.println(name + "\t" + variant + "\tunbalanced");
                }
                if (entries >= 0 && entries != AppMethodBeat.entries) {
                    System.out.println(name + "\t" + variant + "\tentries: " + entries + ", " + AppMethodBeat.entries);
                }
                entries = AppMethodBeat.entries;
                calls += entries;
            }
            programs++;
        }
        System.out.println("done\t" + programs + "\t" + thrown + "\t" + calls);
    }

    static String line(String s) {
        return s.replace('\n', '|');
    }

    static String difference(String want, String got) {
        int i = 0;
        while (i < Math.min(want.length(), got.length()) && want.charAt(i) == got.charAt(i)) {
            i++;
        }
        int from = Math.max(0, i - 100);
        return want.substring(from, Math.min(want.length(), i + 100)) + " / "
            + got.substring(from, Math.min(got.length(), i + 100));
    }

    static String run(Map<String, byte[]> classes, String name, String method) throws Exception {
        ClassLoader loader = Loader.of(classes);
        AppMethodBeat.reset();
        Host.text = new StringBuilder();
        Host.prefix = name;
        Method entry;
        try {
            for (String c : classes.keySet()) {
                Class.forName(c, true, loader);
            }
            entry = Class.forName(name, true, loader).getMethod(method, int.class);
        } catch (LinkageError e) {
            return "LINK " + e;
        }
        for (int input : new int[] {0, 1, 7, -100}) {
            Host.fuel = 150;
            try {
                Host.text.append("VALUE ").append(entry.invoke(null, input)).append('\n');
            } catch (InvocationTargetException e) {
                Host.text.append("THROWN ");
                Host.caught(e.getCause());
            }
        }
        return Host.text.toString();
    }
}
