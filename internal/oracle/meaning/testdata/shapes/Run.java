// release: 8
/** Runs the programs that are named, one after the other. */
public final class Run {
    private Run() {
    }

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            Probe.mark("end of " + name);
        }
    }
}
