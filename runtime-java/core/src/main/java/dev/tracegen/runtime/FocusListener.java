package dev.tracegen.runtime;

/** Receives a call when the window of an activity gains or loses the focus, once for each change. */
public interface FocusListener {
    /** Called when the focus has changed, on the thread of the change, which is the main thread. */
    void focusChanged(String activityClass, boolean hasFocus);
}
