package android.app;

/**
 * Compile-only stand-in for the framework's class, so that the runtime can name it in a signature
 * without an Android SDK. It is on the runtime's compile and test paths only; a device brings the
 * real one.
 */
public class Activity {
}
