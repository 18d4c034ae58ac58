package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.Message;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Reports messages as the {@code Looper.Observer} of the process, which Android 10 and newer have and hide. It is
 * preferred where it can be set, because a Looper with a {@code Printer} makes two strings for every message. One
 * observer serves all Loopers. A thread local leads each thread to its monitor and keeps the monitor alive.
 */
final class ObserverSource extends DispatchSource implements InvocationHandler {
    private static final Class<?> OBSERVER = Reflection.type("android.os.Looper$Observer");
    private static final Method SET = Reflection.method(Looper.class, "setObserver", OBSERVER);
    private static final Field CURRENT = Reflection.field(Looper.class, "sObserver");
    private static final ThreadLocal<ThreadMonitor> THREAD_MONITOR = new ThreadLocal<ThreadMonitor>();
    private static final Object LOCK = new Object();

    /** The last observer that was set in the Looper class. Guarded by LOCK. */
    private static ObserverSource latest;

    private final Object origin;
    private final Object proxy;
    private volatile boolean passive;

    private ObserverSource(Object origin) {
        this.origin = origin;
        this.proxy = Proxy.newProxyInstance(ObserverSource.class.getClassLoader(), new Class<?>[] {OBSERVER}, this);
    }

    /**
     * The monitor of a thread, null for none, and the value of {@link LooperMonitor#changes} when it was looked up.
     */
    private static final class ThreadMonitor {
        LooperMonitor monitor;
        int changes;
    }

    /**
     * Sets the observer of the process if it is not set yet, and returns it; null if this device does not allow it.
     */
    static ObserverSource install() {
        if (OBSERVER == null || SET == null || CURRENT == null) {
            return null;
        }
        synchronized (LOCK) {
            if (latest == null || latest.passive) {
                latest = set();
            }
            return latest;
        }
    }

    private static ObserverSource set() {
        try {
            ObserverSource source = new ObserverSource(CURRENT.get(null));
            SET.invoke(null, source.proxy);
            // A device may accept the call and ignore it.
            return CURRENT.get(null) == source.proxy ? source : null;
        } catch (Throwable e) {
            return null;
        }
    }

    @Override
    public Object invoke(Object self, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        boolean starting = name.equals("messageDispatchStarting");
        if (!starting && (args == null || args.length < 2)) {
            return Reflection.objectMethod(proxy, name, args);
        }
        LooperMonitor monitor = passive ? null : monitorOfThread();
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

    private static LooperMonitor monitorOfThread() {
        ThreadMonitor found = THREAD_MONITOR.get();
        if (found == null || found.changes != LooperMonitor.changes()) {
            found = new ThreadMonitor();
            found.changes = LooperMonitor.changes();
            found.monitor = LooperMonitor.existing(Looper.myLooper());
            if (found.monitor != null && !found.monitor.usesObserver()) {
                found.monitor = null;
            }
            THREAD_MONITOR.set(found);
        }
        return found.monitor;
    }

    @Override
    Object installed() {
        return proxy;
    }

    @Override
    Object current() {
        return Reflection.get(CURRENT, null);
    }

    @Override
    boolean canReadCurrent() {
        return true;
    }

    @Override
    DispatchSource reinstall() {
        synchronized (LOCK) {
            if (latest == this) {
                ObserverSource next = set();
                if (next != null) {
                    passive = true;
                    latest = next;
                }
            }
            return latest;
        }
    }

    @Override
    void release() {
        // Not inside of the lock: LooperMonitor.of takes this lock while it holds its own.
        if (LooperMonitor.anyUsesObserver()) {
            return;
        }
        synchronized (LOCK) {
            if (latest == null) {
                return;
            }
            latest.passive = true;
            if (latest.current() == latest.proxy) {
                try {
                    SET.invoke(null, latest.origin);
                } catch (Exception e) {
                    // It stays installed and only calls the other observer.
                }
            }
        }
    }

    @Override
    boolean isFromOtherCopy(Object other) {
        return other != null && Proxy.isProxyClass(other.getClass())
                && hasSameClassName(Proxy.getInvocationHandler(other), ObserverSource.class);
    }

    @Override
    String kind() {
        return "observer";
    }
}
