package android.app;

/** Named in signatures. */
public class Activity {
}
