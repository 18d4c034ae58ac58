// release: 8
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamException;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;

/** What a program can observe of its classes: the order of their initialisation, reflection, and serialisation. */
public final class Observed {
    private Observed() {
    }

    // Initialisation.

    static int note(String what) {
        Probe.out("init " + what);
        return what.length();
    }

    static class Top {
        static final int N = note("Top");
    }

    interface Quiet {
        int Q = note("Quiet");
    }

    interface WithDefault {
        int D = note("WithDefault");

        default int number() {
            return D;
        }
    }

    static class Middle extends Top implements Quiet, WithDefault {
        static final int N = note("Middle") + Other.N;
        static final int CONSTANT = 7;

        static int call() {
            return N;
        }
    }

    static class Other {
        static final int N = note("Other") + Middle.CONSTANT;
        static int seen = Middle.N;
    }

    static class Bottom extends Middle {
        static {
            note("Bottom");
        }

        final int field = note("a new Bottom");
    }

    static class Untouched {
        static {
            note("Untouched");
        }
    }

    static class Lazy {
        static final class Holder {
            static final Lazy ONE = new Lazy();

            static {
                note("Holder");
            }
        }

        static Lazy get() {
            return Holder.ONE;
        }
    }

    enum Phase {
        FIRST, SECOND {
            @Override
            int weight() {
                return super.weight() + note("SECOND");
            }
        };

        static final int COUNT = note("Phase") + values().length;

        Phase() {
            Probe.out("phase " + name());
        }

        int weight() {
            return ordinal() + COUNT;
        }
    }

    static class Broken {
        static final int N = fail();

        static int fail() {
            note("Broken");
            throw new IllegalStateException("broken");
        }
    }

    static void initialise() throws Exception {
        Probe.out(Middle.CONSTANT);
        Probe.out(Bottom.N);
        Probe.out(Middle.call());
        Probe.out(new Bottom().number());
        Probe.out(Quiet.Q);
        Probe.out(Other.seen);
        Probe.out(new Untouched[1].length + " " + Untouched.class.getName());
        Class.forName("Observed$Untouched", false, Observed.class.getClassLoader());
        Class.forName("Observed$Untouched");
        Probe.out(Lazy.get() == Lazy.get());
        Probe.out(Phase.SECOND.weight() + Phase.FIRST.weight());
        for (int k = 0; k < 2; k++) {
            try {
                Probe.out(Broken.N);
            } catch (LinkageError e) {
                Probe.out(e.getClass().getName());
                Throwable cause = e.getCause() == null ? new Throwable() : e.getCause();
                for (StackTraceElement f : cause.getStackTrace()) {
                    if (f.getClassName().startsWith("Observed")) {
                        Probe.out(f.getClassName() + "." + f.getMethodName() + ":" + f.getLineNumber());
                    }
                }
            }
        }
    }

    // Reflection.

    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        String value() default "none";

        int[] numbers() default {};
    }

    @Mark("generic")
    abstract static class Generic<T extends Comparable<T> & Serializable, U> implements Callable<List<? super U>> {
        @Mark(numbers = {1, 2})
        protected transient volatile T first;
        private final U[] second;

        @SafeVarargs
        Generic(T first, @Mark("rest") U... second) throws IOException {
            this.first = first;
            this.second = second;
        }

        @Override
        public List<? super U> call() {
            return new ArrayList<>(Arrays.asList(second));
        }

        @Deprecated
        protected synchronized <X extends Exception> void raise(@Mark X x, long n) throws X, InterruptedException {
            if (n > 0) {
                throw x;
            }
        }

        abstract double compute(double x);

        private static strictfp String hidden(int[][] a, char c) {
            return a.length + "" + c;
        }
    }

    static class Concrete extends Generic<String, Number> {
        Concrete() throws IOException {
            super("first", 1, 2.5);
        }

        @Override
        double compute(double x) {
            Callable<Double> twice = () -> 2 * x;
            try {
                return twice.call();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public List<Object> call() {
            return Collections.singletonList((Object) first);
        }
    }

    static void describe(Class<?> c) {
        List<String> all = new ArrayList<>();
        for (Field f : c.getDeclaredFields()) {
            all.add("field " + f.toGenericString() + annotations(f.getAnnotations()));
        }
        List<Executable> code = new ArrayList<>();
        Collections.addAll(code, c.getDeclaredMethods());
        Collections.addAll(code, c.getDeclaredConstructors());
        for (Executable e : code) {
            all.add(e.toGenericString() + " " + e.isSynthetic() + e.isVarArgs() + annotations(e.getAnnotations())
                + Arrays.toString(e.getGenericParameterTypes()) + Arrays.toString(e.getExceptionTypes())
                + annotations(Arrays.stream(e.getParameterAnnotations()).flatMap(Arrays::stream)
                    .toArray(java.lang.annotation.Annotation[]::new)));
        }
        Collections.sort(all);
        all.add(Modifier.toString(c.getModifiers()) + " " + c.getGenericSuperclass()
            + Arrays.toString(c.getGenericInterfaces()) + annotations(c.getAnnotations()) + c.isMemberClass()
            + c.isAnonymousClass() + c.getEnclosingClass() + c.getEnclosingMethod() + c.getSimpleName());
        for (String s : all) {
            Probe.out(s);
        }
    }

    static String annotations(java.lang.annotation.Annotation[] all) {
        String[] text = new String[all.length];
        for (int k = 0; k < all.length; k++) {
            text[k] = all[k].annotationType().getName();
            if (all[k] instanceof Mark) {
                text[k] = ((Mark) all[k]).value() + Arrays.toString(((Mark) all[k]).numbers());
            }
        }
        Arrays.sort(text);
        return Arrays.toString(text);
    }

    static void reflect() throws Exception {
        Object anonymous = new Concrete() {
            @Override
            double compute(double x) {
                return -x;
            }
        };
        for (Class<?> c : new Class<?>[] {Generic.class, Concrete.class, anonymous.getClass(), Phase.class, Mark.class,
            WithDefault.class, Shape.class, Named.class, Old.class}) {
            describe(c);
        }
        Method hidden = Generic.class.getDeclaredMethod("hidden", int[][].class, char.class);
        hidden.setAccessible(true);
        Probe.out(hidden.invoke(null, new int[3][], 'x'));
        Constructor<Concrete> make = Concrete.class.getDeclaredConstructor();
        Concrete made = make.newInstance();
        Field first = Generic.class.getDeclaredField("first");
        first.set(made, "changed");
        Probe.out(made.call());
        Probe.out(made.compute(4));
        Method raise = Generic.class.getDeclaredMethod("raise", Exception.class, long.class);
        raise.setAccessible(true);
        raise.invoke(made, null, 0L);
        try {
            raise.invoke(made, new InvalidObjectException("raised"), 1L);
        } catch (InvocationTargetException e) {
            Probe.out(e.getCause());
        }
        try {
            raise.invoke(made, "no exception", 1L);
        } catch (IllegalArgumentException e) {
            Probe.out("wrong argument");
        }
        Runnable proxy = (Runnable) Proxy.newProxyInstance(Observed.class.getClassLoader(),
            new Class<?>[] {Runnable.class}, (self, method, args) -> note("proxy " + method.getName()) > 0 ? null : self);
        proxy.run();
        Probe.out(caller());
    }

    static String caller() {
        StackTraceElement[] all = new Throwable().getStackTrace();
        return all[0].getMethodName() + ":" + all[0].getLineNumber() + " " + all[1].getMethodName() + ":"
            + all[1].getLineNumber();
    }

    // Serialisation.

    static class Shape {
        String label = "unset";

        Shape() {
            note("a new Shape");
        }
    }

    /** Its serialVersionUID is computed from its members. */
    static class Named extends Shape implements Serializable, Comparable<Named> {
        private static int made;

        static {
            made = note("Named");
        }

        private final int number;
        protected transient String cached;
        long[] values = {1, -1, Long.MAX_VALUE};
        Named next;

        Named(int number) {
            this.number = number;
            cached = "cached " + number;
            made++;
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            note("writeObject");
            out.defaultWriteObject();
            out.writeUTF(label);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            note("readObject");
            in.defaultReadObject();
            label = in.readUTF();
            if (number < 0) {
                throw new InvalidObjectException("negative");
            }
        }

        public int compareTo(Named o) {
            return Integer.compare(number, o.number);
        }
    }

    static class Old implements Serializable {
        private static final long serialVersionUID = 42;
        Phase phase = Phase.SECOND;
        Callable<String> lambda = (Callable<String> & Serializable) () -> "called";

        private Object writeReplace() throws ObjectStreamException {
            return new Proxied(phase.name());
        }
    }

    static class Proxied implements Externalizable {
        String name;

        public Proxied() {
            note("a new Proxied");
        }

        Proxied(String name) {
            this.name = name;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeUTF(name);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException {
            name = in.readUTF() + " read";
        }

        private Object readResolve() {
            return name + " resolved";
        }
    }

    static byte[] write(Object o) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(o);
        }
        return bytes.toByteArray();
    }

    static Object read(byte[] data) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(data))) {
            return in.readObject();
        }
    }

    static void serialise() throws Exception {
        for (Class<?> c : new Class<?>[] {Named.class, Old.class, Proxied.class, Phase.class}) {
            Probe.out(c.getName() + " " + ObjectStreamClass.lookup(c).getSerialVersionUID());
        }
        Named named = new Named(5);
        named.label = "five";
        named.next = new Named(6);
        named.next.next = named;
        byte[] data = write(named);
        StringBuilder hex = new StringBuilder();
        for (byte b : data) {
            hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        Probe.out(hex);
        Named back = (Named) read(data);
        Probe.out(back.number + back.label + back.cached + Arrays.toString(back.values) + (back.next.next == back)
            + back.next.label + back.compareTo(back.next));
        Probe.out(read(write(new Old())));
        Probe.out(read(write(Phase.FIRST)) == Phase.FIRST);
        try {
            read(write(new Named(-1)));
        } catch (InvalidObjectException e) {
            Probe.out(e);
        }
        try {
            write(new ArrayList<>(Collections.singletonList(new Shape())));
        } catch (IOException e) {
            Probe.out(e.toString());
        }
    }

    public static void main(String[] args) throws Exception {
        Probe.mark("initialisation");
        initialise();
        Probe.mark("seen by reflection");
        reflect();
        Probe.mark("serialised");
        serialise();
    }
}
