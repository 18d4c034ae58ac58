package shop;

import java.lang.management.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** Makes one situation of locks and waits until it is killed: the program of which the dumps in threads/ are. */
public class Situations {
    static class Cart { static { nap(300); Store.touch(); } static void touch() { } }
    static class Store { static { nap(300); Cart.touch(); } static void touch() { } }
    static class Lone { static { synchronized (LOCK) { nap(1); } } static void touch() { } }
    static class Base { static final Object MADE; static { nap(300); MADE = new Derived(); } static void touch() { } }
    static class Derived extends Base { static void make() { } }
    /** A lock that does not say who has it. */
    static class Gate extends AbstractQueuedSynchronizer {
        @Override protected boolean tryAcquire(int n) { return compareAndSetState(0, 1); }
    }
    static final Gate CLOSED = new Gate(), LOCKED = new Gate();
    static final Object LOCK = new Object();

    static void await(Object o) {
        try { o.wait(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
    }

    static void nap(long millis) {
        try { Thread.sleep(millis); } catch (InterruptedException e) { throw new IllegalStateException(e); }
    }

    static Thread start(String name, Runnable r) throws Exception {
        Thread t = new Thread(r, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static Thread startVirtual(String name, Runnable r) throws Exception {
        Object b = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> of = Class.forName("java.lang.Thread$Builder");
        b = of.getMethod("name", String.class).invoke(b, name);
        return (Thread) of.getMethod("start", Runnable.class).invoke(b, r);
    }

    interface Starter { Thread start(String name, Runnable r) throws Exception; }

    static void lockBoth(Object a, Object b) {
        synchronized (a) { nap(300); synchronized (b) { nap(1); } }
    }

    static void lockBoth(Lock a, Lock b) { a.lock(); nap(300); b.lock(); }

    static void pair(Starter s, Runnable left, Runnable right) throws Exception {
        s.start("left", left);
        s.start("right", right);
    }

    public static void main(String[] args) throws Exception {
        final Object a = new Object(), b = new Object();
        final ReentrantLock x = new ReentrantLock(), y = new ReentrantLock(true);
        final ReentrantReadWriteLock p = new ReentrantReadWriteLock(), q = new ReentrantReadWriteLock();
        final StampedLock u = new StampedLock(), v = new StampedLock();
        Starter s = Situations::start;
        switch (args[0]) {
            case "monitors": pair(s, () -> lockBoth(a, b), () -> lockBoth(b, a)); break;
            case "reentrant": pair(s, () -> lockBoth(x, y), () -> lockBoth(y, x)); break;
            case "write": pair(s, () -> lockBoth(p.writeLock(), q.writeLock()), () -> lockBoth(q.writeLock(), p.writeLock())); break;
            case "read": pair(s, () -> lockBoth(p.readLock(), q.writeLock()), () -> lockBoth(q.readLock(), p.writeLock())); break;
            case "upgrade": start("left", () -> lockBoth(p.readLock(), p.writeLock())); break;
            case "stamped": pair(s, () -> { u.writeLock(); nap(300); v.writeLock(); }, () -> { v.writeLock(); nap(300); u.readLock(); }); break;
            case "mixed": pair(s, () -> { synchronized (a) { nap(300); x.lock(); } }, () -> { x.lock(); nap(300); synchronized (a) { nap(1); } }); break;
            case "init": pair(s, Cart::touch, Store::touch); break;
            case "initlock": pair(s, () -> { synchronized (LOCK) { nap(300); Lone.touch(); } }, () -> { nap(100); Lone.touch(); }); break;
            case "join": {
                final Thread m = Thread.currentThread();
                start("left", () -> { nap(200); synchronized (a) { nap(1); } });
                final Thread t = start("right", () -> { nap(200); synchronized (a) { nap(1); } });
                synchronized (a) { t.join(); }
                break;
            }
            case "semaphore": {
                final Semaphore k = new Semaphore(1), l = new Semaphore(1);
                pair(s, () -> { k.acquireUninterruptibly(); nap(300); l.acquireUninterruptibly(); },
                    () -> { l.acquireUninterruptibly(); nap(300); k.acquireUninterruptibly(); });
                break;
            }
            case "main": {
                start("right", () -> lockBoth(b, a));
                ask();
                lockBoth(a, b);
                break;
            }
            case "busy": // no deadlock: left waits for what right has, which sleeps; idle waits to be notified
                pair(s, () -> { nap(200); synchronized (a) { nap(1); } }, () -> { synchronized (a) { nap(100000); } });
                start("idle", () -> { synchronized (b) { try { b.wait(); } catch (InterruptedException e) { } } });
                start("runs", () -> { while (true) { Math.sin(1); nap(5); } });
                start("named \"q\" prio=5 tid=0x16", () -> { x.lock(); nap(100000); });
                start("taker", () -> { nap(200); x.lock(); });
                start("pool", () -> { try { new LinkedBlockingQueue<Object>().take(); } catch (InterruptedException e) { } });
                break;
            case "virtual": s = Situations::startVirtual; pair(s, () -> lockBoth(x, y), () -> lockBoth(y, x)); break;
            case "virtualmonitors": s = Situations::startVirtual; pair(s, () -> lockBoth(a, b), () -> lockBoth(b, a)); break;
            case "virtualparked": s = Situations::startVirtual; pair(s, () -> LockSupport.park(), () -> { while (true) { } }); break;
            case "rewait": // the JVM does not find this one: left was notified, and waits for what it waited on
                start("left", () -> { synchronized (a) { synchronized (b) { await(b); } } });
                start("right", () -> { nap(200); synchronized (b) { b.notify(); synchronized (a) { nap(1); } } });
                break;
            case "gate": pair(s, () -> { CLOSED.acquire(1); nap(300); LOCKED.acquire(1); },
                () -> { LOCKED.acquire(1); nap(300); CLOSED.acquire(1); });
                break;
            case "subclass": pair(s, () -> Base.touch(), () -> { nap(100); Derived.make(); }); break;
            case "newline": pair((n, r) -> start("a\n" + n + "\" prio=5 tid=1", r), () -> lockBoth(a, b), () -> lockBoth(b, a)); break;
            case "namesakes": {
                final Lock[] l = {new ReentrantLock(), new ReentrantLock(), new ReentrantLock(), new ReentrantLock()};
                for (int i = 0; i < 4; i++) { final int k = i; start("same", () -> lockBoth(l[k], l[k ^ 1])); }
                break;
            }
            default: throw new IllegalArgumentException(args[0]);
        }
        ask();
        Thread.sleep(100000);
    }

    /** Prints what ThreadInfo says, and the plain stacks, after a second. */
    static void ask() throws Exception {
        start("asker", () -> {
            nap(1200);
            try (java.io.PrintStream o = new java.io.PrintStream(System.getProperty("info"))) {
                for (ThreadInfo i : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) { o.print(i); }
            } catch (Exception e) { throw new IllegalStateException(e); }
        });
    }
}
