package dev.tracegen.runtime;

/** Stores which activity has the focus. It keeps the class and not the activity, which must stay collectable. */
final class Focus {
    private static Class<?> focused;
    private static volatile FocusListener listener;

    private Focus() {
    }

    static void listen(FocusListener value) {
        listener = value;
    }

    static synchronized String activityClass() {
        return focused == null ? null : focused.getName();
    }

    static void changed(Class<?> type, boolean hasFocus) {
        synchronized (Focus.class) {
            // The next activity may report its gain before this one reports its loss.
            if (hasFocus == (focused == type)) {
                return;
            }
            focused = hasFocus ? type : null;
        }
        FocusListener l = listener;
        if (l != null) {
            l.focusChanged(type.getName(), hasFocus);
        }
    }
}
