package dev.tracegen.runtime.android;

import android.view.View;
import android.view.Window;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The windows that are shown: those of activities and of dialogs. From Android 10 on the root views are public; before,
 * they are in a hidden class, which Android 9 lets apps use. The window of a root view is in a hidden field in all
 * versions. A popup is a root view without a window: it has no callback that could be wrapped.
 */
final class RootViews {
    /** {@code WindowInspector.getGlobalWindowViews}, from Android 10 on. */
    private static final Method PUBLIC_VIEWS = Reflection.method(
            Reflection.type("android.view.inspector.WindowInspector"), "getGlobalWindowViews");

    private RootViews() {
    }

    /** Hidden members. This class is initialized when one of them is needed. */
    private static final class Hidden {
        static final Object GLOBAL = global();
        static final Object VIEWS = Reflection.get(field("mViews"), GLOBAL);
        static final Object LOCK = Reflection.get(field("mLock"), GLOBAL);

        private static Field field(String name) {
            return GLOBAL == null ? null : Reflection.field(GLOBAL.getClass(), name);
        }
    }

    /**
     * Returns the windows of the root views. Needs hidden members. On the main thread.
     *
     * @return empty if none can be found
     */
    static List<Window> windows() {
        List<Window> windows = new ArrayList<Window>();
        for (Object view : views()) {
            Window window = window(view);
            if (window != null) {
                windows.add(window);
            }
        }
        return windows;
    }

    private static List<?> views() {
        try {
            if (PUBLIC_VIEWS != null) {
                return (List<?>) PUBLIC_VIEWS.invoke(null);
            }
            if (Hidden.LOCK != null && Hidden.VIEWS instanceof List) {
                synchronized (Hidden.LOCK) {
                    return new ArrayList<Object>((List<?>) Hidden.VIEWS);
                }
            }
        } catch (Exception e) {
            // As if there were none.
        }
        return Collections.emptyList();
    }

    /** Returns the window of a root view; null if it has none, or if that cannot be read. */
    private static Window window(Object view) {
        if (!(view instanceof View)) {
            return null;
        }
        Class<?> type = view.getClass();
        while (type != null && !type.getName().endsWith("DecorView")) {
            type = type.getSuperclass();
        }
        // Before Android 7 the view is an inner class of the window.
        for (String name : new String[] {"mWindow", "this$0"}) {
            Object window = Reflection.get(Reflection.field(type, name), view);
            if (window instanceof Window) {
                return (Window) window;
            }
        }
        return null;
    }

    private static Object global() {
        try {
            return Class.forName("android.view.WindowManagerGlobal").getMethod("getInstance").invoke(null);
        } catch (Throwable e) {
            return null;
        }
    }
}
