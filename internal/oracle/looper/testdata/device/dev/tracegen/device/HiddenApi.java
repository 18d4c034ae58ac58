package dev.tracegen.device;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A device's policy for members of Android that are not public API. The Go test changes the runtime's calls of
 * {@code Class.getField} and its like into calls of the methods here. As ART does, they report that a member does not
 * exist if the app may not use it.
 */
public final class HiddenApi {
    /**
     * The kind of a member by class and name: {@code public}, {@code unsupported} if apps may use it nevertheless,
     * {@code newer} if this version has none. All others are denied.
     */
    private static final Map<String, String> MEMBERS = members();

    /** Whether members that are not listed are denied. Otherwise all can be used, as on versions before Android 9. */
    private static final boolean DENIES = Boolean.getBoolean("device.denies");

    private static final List<String> HIDDEN = new ArrayList<String>();

    private HiddenApi() {
    }

    private static Map<String, String> members() {
        try {
            Map<String, String> all = new HashMap<String, String>();
            BufferedReader in = new BufferedReader(
                    new InputStreamReader(new FileInputStream(System.getProperty("device.members")), "UTF-8"));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] parts = line.split(" ");
                all.put(parts[1], parts[0]);
            }
            in.close();
            return all;
        } catch (Exception e) {
            throw new IllegalStateException("the list of members", e);
        }
    }

    /** Returns the hidden members and classes that the runtime has looked up so far, whether they were denied or not. */
    public static List<String> lookups() {
        synchronized (HIDDEN) {
            return new ArrayList<String>(HIDDEN);
        }
    }

    private static boolean denied(Class<?> c, String member) {
        if (!c.getName().startsWith("android.")) {
            return false;
        }
        String key = "L" + c.getName().replace('.', '/') + ";->" + member;
        String kind = MEMBERS.get(key);
        if (kind == null || kind.equals("unsupported")) {
            synchronized (HIDDEN) {
                HIDDEN.add(key);
            }
        }
        return DENIES && (kind == null || kind.equals("newer"));
    }

    public static Field getField(Class<?> c, String name) throws NoSuchFieldException {
        if (denied(c, name)) {
            throw new NoSuchFieldException(name);
        }
        return c.getField(name);
    }

    public static Field getDeclaredField(Class<?> c, String name) throws NoSuchFieldException {
        if (denied(c, name)) {
            throw new NoSuchFieldException(name);
        }
        return c.getDeclaredField(name);
    }

    public static Method getMethod(Class<?> c, String name, Class<?>[] types) throws NoSuchMethodException {
        if (denied(c, name)) {
            throw new NoSuchMethodException(name);
        }
        return c.getMethod(name, types);
    }

    public static Method getDeclaredMethod(Class<?> c, String name, Class<?>[] types) throws NoSuchMethodException {
        if (denied(c, name)) {
            throw new NoSuchMethodException(name);
        }
        return c.getDeclaredMethod(name, types);
    }

    /** The policy covers members, not classes. */
    public static Class<?> forName(String name) throws ClassNotFoundException {
        if (name.startsWith("android.")) {
            synchronized (HIDDEN) {
                HIDDEN.add(name);
            }
        }
        return Class.forName(name);
    }
}
