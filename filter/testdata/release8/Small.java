// Small methods, with the expected decision in each trivial mode. A comment that begins with an equals sign is about
// the methods whose first line it is on: it has the reason in mode smart and the reason in mode matrix, or "-" if the
// method is traced. "name: " before them distinguishes methods of the same line. The classes beside this file were
// made in this directory by
//
//     javac --release 8 -g:lines -d . Small.java
//
// with javac of JDK 17. With release 8, javac still writes access$ methods.
package small;

import java.util.Comparator;

public class Small implements Comparator<String> { //= <init>: trivial trivial | compare: bridge bridge | access$000: synthetic-accessor synthetic-accessor | access$002: synthetic-accessor synthetic-accessor | access$102: synthetic-accessor synthetic-accessor | access$008: trivial trivial | access$200: synthetic-accessor synthetic-accessor | access$202: synthetic-accessor synthetic-accessor | access$300: synthetic-accessor synthetic-accessor
    int field;
    static int ours;
    private int secret;
    private static int secretStatic;
    private long secretLong;
    volatile boolean stop;
    Object object;
    int[] array;

    // Constants and fields.
    void empty() {} //= trivial trivial
    int constant() { return 1; } //= trivial trivial
    String string() { return "s"; } //= trivial trivial
    Class<?> type() { return String.class; } //= trivial trivial
    int getter() { return field; } //= trivial trivial
    void setter(int x) { field = x; } //= trivial trivial
    Small fluent(int x) { field = x; return this; } //= trivial trivial
    static int getOurs() { return ours; } //= trivial trivial
    static void setOurs(int x) { ours = x; } //= trivial trivial
    static Object foreign() { return System.out; } //= - trivial
    static void setForeign() { Other.theirs = 1; } //= - trivial
    long wide(long a, double b) { return a; } //= trivial trivial
    Object cast() { return (String) object; } //= trivial trivial
    boolean is() { return object instanceof String; } //= trivial trivial
    int length() { return array.length; } //= trivial trivial
    int element(int i) { return array[i]; } //= trivial trivial
    void store(int i) { array[i] = 1; } //= trivial trivial

    // Arithmetic, up to twelve instructions.
    int add(int a, int b) { return a + b; } //= trivial trivial
    int twelve(int a) { return a + a * a + a * a + a; } //= trivial trivial
    int thirteen(int a) { return a + a * a + a * a + -a; } //= - trivial
    void increment() { field++; } //= trivial trivial
    int local(int a) { int b = a; return b; } //= trivial trivial

    // Branches.
    int max(int a, int b) { return a > b ? a : b; } //= trivial trivial
    boolean not(boolean b) { return !b; } //= trivial trivial
    void busy() { while (!stop) {} } //= - trivial
    void forever() { for (;;) {} } //= - trivial
    int count(int n) { int i = 0; while (i < n) i++; return i; } //= - trivial
    int choose(int n) { switch (n) { case 1: return 7; case 2: return 8; default: return 9; } } //= trivial trivial
    int lookup(int n) { switch (n) { case 1: return 7; case 9000: return 8; default: return 9; } } //= trivial trivial
    void again(int n) { for (;;) switch (n) { case 1: continue; default: return; } } //= - trivial

    // Allocation, locks, exceptions.
    int[] newArray() { return new int[9]; } //= - trivial
    String[] newStrings() { return new String[9]; } //= - trivial
    int[][] newTable() { return new int[9][9]; } //= - trivial
    Object newObject() { return new Object(); } //= - -
    synchronized int locked() { return field; } //= - trivial
    void block() { synchronized (this) { field = 1; } } //= - trivial
    void fail(RuntimeException e) { throw e; } //= - trivial
    int guarded(int a) { try { return a / a; } catch (ArithmeticException e) { return 0; } } //= trivial trivial

    // Calls.
    int call() { return object.hashCode(); } //= - -
    void twice() { helper(); helper(); } //= - -
    Runnable lambda() { return () -> field = 1; } //= lambda: - - | lambda$lambda$0: trivial trivial
    Runnable reference() { return this::empty; } //= - -
    int interfaceCall(Comparator<String> c) { return c.compare("a", "b"); } //= - -

    // Methods that only delegate.
    private int helper() { return call(); } //= - -
    private native int inNative(int a);
    private static int helperStatic(int a, long b, String c) { return a + c.length(); } //= - -
    static <T> T generic(T t) { return t; } //= trivial trivial
    static native int staticNative();
    int toPrivate() { return helper(); } //= trivial -
    int toStatic(int a) { return helperStatic(a, 5000000000L, "c"); } //= trivial -
    int toField() { return helperStatic(field, 1, "c"); } //= - -
    int toNative(int a) { return inNative(a); } //= - -
    static int toStaticNative() { return staticNative(); } //= - -
    String toGeneric(String s) { return generic(s); } //= trivial -
    int toPublic() { return call(); } //= - -
    int toOther() { return Other.work(1); } //= - -
    int toSuper() { return super.hashCode(); } //= - -
    int toThem() { return helper() + helper(); } //= - -
    int negated() { return -helper(); } //= - -
    void discarded() { helper(); } //= - -
    synchronized int toPrivateLocked() { return helper(); } //= - -
    static int manyArguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l) { return sum(a, b, c, d, e, f, g, h, i, j, k, l); } //= trivial -
    private static int sum(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l) { return Math.max(a, l); } //= - -

    // A bridge.
    @Override public int compare(String a, String b) { return a.compareTo(b); } //= compare: - -

    static class Bridged implements Comparator<String> { //= <init>: trivial trivial | compare: bridge bridge
        @Override
        public int compare(String a, String b) {
            return a.compareTo(b); //= - -
        }
    }

    private int secretMethod(int a) { return call() + a; } //= - -

    class Inner { //= - trivial
        int read() { return secret; } //= - -
        void write() { secret = 2; } //= - -
        void writeLong() { secretLong = 2; } //= - -
        int bump() { return secret++; } //= - -
        int readStatic() { return secretStatic; } //= - -
        int invoke() { return secretMethod(3); } //= - -
        Hidden make() { return new Hidden(); } //= - -
    }

    static class Hidden { //= trivial trivial
        private Hidden() { secretStatic = 3; } //= - -
    }
}

class Other {
    static int theirs;
    static { theirs = 3; } //= trivial trivial
    Other() { super(); } //= trivial trivial
    Other(int a) { super(); a++; } //= - -
    Other(int a, int b) { this(); } //= - trivial
    private Other(String s) { System.out.println(s); } //= - -
    Other(long a) { this("a"); } //= trivial trivial
    static int work(int a) { return Integer.bitCount(a); } //= - -
}

class Derived extends Other {
    int initialised = 3;
    Derived() { super(); } //= - trivial
}

class Passing extends Other {
    Passing(int[] a) { super(a[0]); } //= - trivial
    Passing(String s) { super(1); work(); } //= - -
    private void work() { System.out.println(); } //= - -
    Passing(int a) { super(a); } //= trivial trivial
    Passing(int a, int b) { super(a + b); } //= - -
    Passing(Object a) { super((Integer) a); } //= - -
    Passing(boolean b) { super(b ? 1 : 2); } //= - -
    Passing() { super(7, 8); } //= trivial trivial
}

abstract class Abstract { //= trivial trivial
    abstract int missing();
    int concrete() { return missing(); } //= - -
    int small() { return 1; } //= trivial trivial
}

interface Default {
    int missing();
    default int concrete() { return missing(); } //= - -
    static int fixed() { return 3; } //= trivial trivial
}

enum Level { //= <init>: trivial trivial | values: - - | valueOf: - - | $values: - trivial
    LOW, //= - -
    HIGH
}
