package android.app;

/** Compile-only stand-in for the framework's class; never on a run's class path. */
public class Activity {
}
