package app;

/** Work that never ends, below other work that has. */
public final class Freeze {
    private int done;

    public void open() throws Exception {
        for (int k = 0; k < 3; k++) {
            load(k);
        }
        stuck();
    }

    private void load(int k) {
        done += k;
    }

    private void stuck() throws Exception {
        Thread.sleep(600000);
    }
}
