package sun.misc;

/** The class that libcore's {@code NativeAllocationRegistry} needs. It cleans nothing here. */
public final class Cleaner {
    private Cleaner() {
    }

    public static Cleaner create(Object referent, Runnable thunk) {
        return new Cleaner();
    }

    public void clean() {
    }
}
