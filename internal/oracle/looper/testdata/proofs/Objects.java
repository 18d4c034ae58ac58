import android.app.Activity;
import android.app.Application;
import android.view.Window;
import dev.tracegen.runtime.Recorder;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Objects of Android that cannot be constructed here, because their constructors need resources of a device. */
final class Objects {
    private Objects() {
    }

    /** Makes an object without running a constructor. */
    static <T> T bare(Class<T> type) throws Exception {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field only = unsafe.getDeclaredField("theUnsafe");
        only.setAccessible(true);
        return type.cast(unsafe.getMethod("allocateInstance", Class.class).invoke(only.get(null), type));
    }

    /** An activity with a window of its own. */
    static class WindowActivity extends Activity {
        Window window;

        @Override
        public Window getWindow() {
            return window;
        }
    }

    static WindowActivity activity() throws Exception {
        WindowActivity a = bare(WindowActivity.class);
        a.window = (Window) bare(Class.forName("com.android.internal.policy.PhoneWindow"));
        return a;
    }

    /** Calls the callbacks of an Application, as an Activity does: {@code Started}, {@code Stopped}, ... */
    static void lifecycle(final Application app, final String what, final Activity activity) throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    Method m = Application.class.getDeclaredMethod("dispatchActivity" + what, Activity.class);
                    m.setAccessible(true);
                    m.invoke(app, activity);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    /** Returns what the recorder knows of the foreground. */
    static boolean foreground() throws Exception {
        Method m = Recorder.class.getDeclaredMethod("foreground");
        m.setAccessible(true);
        return (Boolean) m.invoke(Recorder.current());
    }
}
