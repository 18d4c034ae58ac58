package dev.tracegen.runtime;

/** Is told when an activity's window gains or loses the focus, once for each change. */
public interface FocusListener {
    /**
     * The focus changed. Called on the thread that the change happened on, which is the main one.
     *
     * @param activityClass the name of the activity's class
     * @param hasFocus whether its window has the focus now
     */
    void focusChanged(String activityClass, boolean hasFocus);
}
