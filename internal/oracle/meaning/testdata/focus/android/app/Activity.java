package android.app;

/** The parts of Android's class that the program needs. */
public class Activity {
    public void onWindowFocusChanged(boolean hasFocus) {
        System.out.println(getClass().getSimpleName() + ": framework " + hasFocus);
    }
}
