package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.Message;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Hears of messages as the process's {@code Looper.Observer}, which Android 10 and newer have and hide. Where it can be
 * set it is the better way: a looper with a {@code Printer} makes two strings of every message. There is one for all
 * loopers; a thread finds its monitor by a thread local, which is also what keeps the monitor alive.
 */
final class ObserverTap extends DispatchTap implements InvocationHandler {
    private static final Class<?> OBSERVER = observerClass();
    private static final Method SET = setObserver();
    private static final Field CURRENT = currentObserver();
    private static final ThreadLocal<Found> FOUND = new ThreadLocal<Found>();
    private static final Object LOCK = new Object();

    /** The one that stands in the looper, as far as we know. Guarded by LOCK. */
    private static ObserverTap installed;

    private final Object origin;
    private final Object proxy;
    private volatile boolean passive;

    private ObserverTap(Object origin) {
        this.origin = origin;
        this.proxy = Proxy.newProxyInstance(ObserverTap.class.getClassLoader(), new Class<?>[] {OBSERVER}, this);
    }

    /** What a thread knows: its monitor if it has one, as of the count of monitors made. */
    private static final class Found {
        LooperMonitor monitor;
        int asOf;
    }

    /** The process's observer, set if it is not yet; null if this device does not allow it. */
    static ObserverTap install() {
        if (OBSERVER == null || SET == null || CURRENT == null) {
            return null;
        }
        synchronized (LOCK) {
            if (installed == null || installed.passive) {
                installed = set();
            }
            return installed;
        }
    }

    private static ObserverTap set() {
        try {
            ObserverTap tap = new ObserverTap(CURRENT.get(null));
            SET.invoke(null, tap.proxy);
            // A device may accept the call and keep what it has.
            return CURRENT.get(null) == tap.proxy ? tap : null;
        } catch (Throwable e) {
            return null;
        }
    }

    @Override
    public Object invoke(Object self, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        boolean starting = name.equals("messageDispatchStarting");
        if (!starting && (args == null || args.length < 2)) {
            return objectMethod(name, args);
        }
        LooperMonitor monitor = passive ? null : mine();
        if (monitor != null && !starting) {
            monitor.end((Message) args[1]);
        }
        Object result = origin == null ? null : pass(method, args);
        if (monitor != null && starting) {
            monitor.begin(null, false);
        }
        return result;
    }

    private Object pass(Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(origin, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Object objectMethod(String name, Object[] args) {
        if (name.equals("equals")) {
            return args[0] == proxy;
        }
        return name.equals("hashCode") ? (Object) System.identityHashCode(this) : "tracegen";
    }

    private static LooperMonitor mine() {
        Found found = FOUND.get();
        if (found == null || found.asOf != LooperMonitor.made()) {
            found = new Found();
            found.asOf = LooperMonitor.made();
            found.monitor = LooperMonitor.existing(Looper.myLooper());
            if (found.monitor != null && !found.monitor.hearsObserver()) {
                found.monitor = null;
            }
            FOUND.set(found);
        }
        return found.monitor;
    }

    @Override
    Object own() {
        return proxy;
    }

    @Override
    Object top() {
        return LooperInternals.get(CURRENT, null);
    }

    @Override
    boolean canLook() {
        return true;
    }

    @Override
    DispatchTap again() {
        synchronized (LOCK) {
            if (installed == this) {
                ObserverTap next = set();
                if (next != null) {
                    passive = true;
                    installed = next;
                }
            }
            return installed;
        }
    }

    @Override
    void release() {
        // Not inside of the lock: monitors are made under theirs, and take this one then.
        if (LooperMonitor.anyHearsObserver()) {
            return;
        }
        synchronized (LOCK) {
            if (installed == null) {
                return;
            }
            installed.passive = true;
            if (installed.top() == installed.proxy) {
                try {
                    SET.invoke(null, installed.origin);
                } catch (Exception e) {
                    // It only passes on now.
                }
            }
        }
    }

    @Override
    boolean isTwin(Object other) {
        return other != null && Proxy.isProxyClass(other.getClass())
                && isNamesake(Proxy.getInvocationHandler(other), ObserverTap.class);
    }

    @Override
    String kind() {
        return "observer";
    }

    private static Class<?> observerClass() {
        try {
            return Class.forName("android.os.Looper$Observer");
        } catch (Throwable e) {
            return null;
        }
    }

    private static Method setObserver() {
        try {
            return Looper.class.getMethod("setObserver", OBSERVER);
        } catch (Throwable e) {
            return null;
        }
    }

    private static Field currentObserver() {
        try {
            Field f = Looper.class.getDeclaredField("sObserver");
            f.setAccessible(true);
            return f;
        } catch (Throwable e) {
            return null;
        }
    }
}
