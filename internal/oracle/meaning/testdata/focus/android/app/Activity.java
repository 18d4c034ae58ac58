package android.app;

/** As much of Android's class as the program needs. */
public class Activity {
    public void onWindowFocusChanged(boolean hasFocus) {
        System.out.println(getClass().getSimpleName() + ": framework " + hasFocus);
    }
}
