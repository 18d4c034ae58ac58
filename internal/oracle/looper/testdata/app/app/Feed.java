package app;

import java.util.ArrayList;
import java.util.List;

/** The slow work of a screen that opens. The app measures its times by a clock of its own. */
public final class Feed {
    /** The time that each method took, in nanoseconds, in the order of their ends. */
    public final List<String> names = new ArrayList<String>();
    public final List<Long> nanos = new ArrayList<Long>();

    private void took(String name, long begin) {
        names.add(name);
        nanos.add(System.nanoTime() - begin);
    }

    private static void rest(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public void open() {
        long begin = System.nanoTime();
        load();
        bind();
        took("open", begin);
    }

    private void load() {
        long begin = System.nanoTime();
        rest(200);
        for (int k = 0; k < 3; k++) {
            decode(100);
        }
        took("load", begin);
    }

    private void decode(int millis) {
        long begin = System.nanoTime();
        rest(millis);
        took("decode", begin);
    }

    private void bind() {
        long begin = System.nanoTime();
        try {
            layout(true);
        } catch (IllegalStateException e) {
            rest(200);
        }
        took("bind", begin);
    }

    private void layout(boolean fails) {
        long begin = System.nanoTime();
        rest(300);
        took("layout", begin);
        if (fails) {
            throw new IllegalStateException();
        }
    }
}
