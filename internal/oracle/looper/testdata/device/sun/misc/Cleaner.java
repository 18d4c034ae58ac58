package sun.misc;

/** What libcore's {@code NativeAllocationRegistry} wants of the class library. There is nothing to clean here. */
public final class Cleaner {
    private Cleaner() {
    }

    public static Cleaner create(Object referent, Runnable thunk) {
        return new Cleaner();
    }

    public void clean() {
    }
}
