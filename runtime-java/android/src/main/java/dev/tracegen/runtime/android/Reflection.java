package dev.tracegen.runtime.android;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Looks up members of Android that are hidden, or newer than the classes that this library is compiled with. What a
 * device does not have, or denies, is null, also as an argument.
 */
final class Reflection {
    private Reflection() {
    }

    /** Returns a field, hidden or not. */
    static Field field(Class<?> type, String name) {
        try {
            Field f = type.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (Throwable e) {
            return null;
        }
    }

    /** Returns a public method. */
    static Method method(Class<?> type, String name, Class<?>... parameters) {
        try {
            return type.getMethod(name, parameters);
        } catch (Throwable e) {
            return null;
        }
    }

    /** Returns the value of a field, null also if it cannot be read. */
    static Object get(Field field, Object of) {
        try {
            return field == null ? null : field.get(of);
        } catch (Exception e) {
            return null;
        }
    }

    /** Calls a public method without parameters. */
    static Object call(Object of, String name) throws ReflectiveOperationException {
        return of.getClass().getMethod(name).invoke(of);
    }
}
