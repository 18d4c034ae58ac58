package dev.tracegen.runtime;

/** Which activity's window has the focus. The class is kept, and not the activity, which may be collected. */
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
            // The next activity may have announced itself before this one's loss comes in.
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
