// release: 8
import java.io.IOException;

/** Ways out of a method: returns, throws, and catch and finally around them. */
public final class Throws {
    private static int count;

    // plain: +plain +leaf -leaf -plain
    static int plain() {
        return leaf() + 1;
    }

    static int leaf() {
        return 41;
    }

    // noCode: +noCode -noCode
    static void noCode() {
    }

    // direct normal: +direct
    // direct: +direct -direct
    static void direct() {
        throw new IllegalStateException("direct");
    }

    // implicit exact: +implicit -implicit
    // implicit: +implicit
    static int implicit(Object o) {
        return o.hashCode();
    }

    // through exact: +through +middle +direct -direct -middle -through
    // through throws: +through +middle +direct -direct
    // through normal: +through +middle +direct
    static void through() {
        middle();
    }

    static void middle() {
        direct();
        leaf();
    }

    // caught normal: +caught +direct +leaf -leaf -caught
    // caught: +caught +direct -direct +leaf -leaf -caught
    static int caught() {
        try {
            direct();
            return 1;
        } catch (IllegalStateException e) {
            return leaf();
        }
    }

    // A handler of the wrong type covers the athrow: only exact reports that exit.
    static void otherType() {
        try {
            throw new IllegalStateException("not an Error");
        } catch (Error e) {
            leaf();
        }
    }

    // rethrown normal: +rethrown +direct +leaf -leaf
    // rethrown: +rethrown +direct -direct +leaf -leaf -rethrown
    static void rethrown() throws Exception {
        try {
            direct();
        } catch (IllegalStateException e) {
            leaf();
            throw new Exception("wrapped", e);
        }
    }

    // inFinally normal: +inFinally +direct +leaf -leaf
    // inFinally: +inFinally +direct -direct +leaf -leaf -inFinally
    static void inFinally() {
        try {
            direct();
        } finally {
            leaf();
        }
    }

    // overruled normal: +overruled +direct +leaf -leaf -overruled
    // overruled: +overruled +direct -direct +leaf -leaf -overruled
    @SuppressWarnings("finally")
    static int overruled() {
        try {
            direct();
            return 1;
        } finally {
            return leaf();
        }
    }

    // finallyThrows normal: +finallyThrows +leaf -leaf
    // finallyThrows: +finallyThrows +leaf -leaf -finallyThrows
    @SuppressWarnings("finally")
    static int finallyThrows() {
        try {
            return leaf();
        } finally {
            throw new UnsupportedOperationException("from finally");
        }
    }

    // handlerThrows exact: +handlerThrows +direct -direct +implicit -implicit -handlerThrows
    // handlerThrows throws: +handlerThrows +direct -direct +implicit
    // handlerThrows normal: +handlerThrows +direct +implicit
    static void handlerThrows() {
        try {
            direct();
        } catch (IllegalStateException e) {
            implicit(null);
        }
    }

    // nested exact: +nested +direct -direct +implicit -implicit +leaf -leaf +leaf -leaf -nested
    // nested throws: +nested +direct -direct +implicit +leaf -leaf +leaf -leaf -nested
    // nested normal: +nested +direct +implicit +leaf -leaf +leaf -leaf -nested
    static int nested() {
        int n = 0;
        try {
            try {
                direct();
            } catch (IllegalStateException e) {
                n += implicit(null);
            } finally {
                n += leaf();
            }
        } catch (NullPointerException e) {
            n += leaf();
        }
        return n;
    }

    // retry normal: +retry +flaky +flaky +flaky -flaky -retry
    // retry: +retry +flaky -flaky +flaky -flaky +flaky -flaky -retry
    static int retry() {
        for (int left = 5; ; left--) {
            try {
                return flaky();
            } catch (IOException e) {
                if (left == 0) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    static int flaky() throws IOException {
        if (++count % 3 != 0) {
            throw new IOException("try again " + count);
        }
        return count;
    }

    // givesUp normal: +givesUp +direct +direct +direct
    // The athrow of a finally is covered by nothing.
    // givesUp: +givesUp +direct -direct +direct -direct +direct -direct -givesUp
    static void givesUp() {
        int left = 2;
        while (true) {
            try {
                direct();
            } catch (IllegalStateException e) {
                if (left-- == 0) {
                    try {
                        throw e;
                    } finally {
                        count = 0;
                    }
                }
            }
        }
    }

    // The loop starts at offset 0: going round must not enter again.
    // loopAtZero: +loopAtZero +leaf -leaf +leaf -leaf +leaf -leaf -loopAtZero
    static int loopAtZero(int n) {
        do {
            leaf();
        } while (--n > 0);
        return n;
    }

    // endless normal: +endless
    // endless: +endless -endless
    static void endless(int n) {
        while (true) {
            if (n-- == 0) {
                throw new IllegalArgumentException("enough");
            }
        }
    }

    // jumps: +jumps +leaf -leaf +leaf -leaf +leaf -leaf -jumps
    static int jumps() {
        int n = 0;
        outer:
        for (int a = 0; a < 4; a++) {
            for (int b = 0; ; b++) {
                try {
                    if (b == 1) {
                        continue outer;
                    }
                    if (a == 2) {
                        break outer;
                    }
                    n += 10;
                } finally {
                    n++;
                    if (b == 0) {
                        leaf();
                    }
                }
            }
        }
        return n;
    }

    // thrice: +thrice +pick -pick +pick -pick +pick -pick -thrice
    static String thrice() {
        return pick(-1) + pick(0) + pick(1);
    }

    static String pick(int n) {
        if (n < 0) {
            return "less";
        }
        return n == 0 ? "none" : "more";
    }

    static final class Resource implements AutoCloseable {
        @Override
        public void close() throws IOException {
            throw new IOException("close");
        }
    }

    // resource normal: +resource +Resource.<init> -Resource.<init> +direct +close
    // resource throws: +resource +Resource.<init> -Resource.<init> +direct -direct +close -close -resource
    // resource exact: +resource +Resource.<init> -Resource.<init> +direct -direct +close -close -resource
    static void resource() throws IOException {
        try (Resource r = new Resource()) {
            direct();
        }
    }

    // multi: +multi -multi +multi -multi
    static String multi(int kind) {
        try {
            if (kind == 0) {
                return "" + 1 / kind;
            }
            return (String) (Object) kind;
        } catch (ArithmeticException | ClassCastException e) {
            return e.getClass().getSimpleName();
        }
    }

    // nothing normal: +nothing
    // nothing: +nothing -nothing
    static void nothing() {
        RuntimeException e = null;
        throw e;
    }

    // deep exact: (+down)*40 (-down)*40
    // deep throws: (+down)*40 -down
    // deep normal: (+down)*40
    static int down(int n) {
        if (n == 1) {
            throw new IllegalStateException("bottom");
        }
        return down(n - 1) + 1;
    }

    // locked exact: +locked +direct -direct -locked
    // locked throws: +locked +direct -direct
    // locked normal: +locked +direct
    static synchronized void locked() {
        direct();
    }

    // monitors normal: +monitors +direct +leaf -leaf
    // monitors: +monitors +direct -direct +leaf -leaf -monitors
    static int monitors(Object a, Object b) {
        synchronized (a) {
            try {
                synchronized (b) {
                    direct();
                }
            } catch (IllegalStateException e) {
                leaf();
            }
        }
        throw new UnsupportedOperationException(Thread.holdsLock(a) + " " + Thread.holdsLock(b));
    }

    // A compiler covers the release of a monitor with its own catch-all, which throws from an instruction that no range
    // covers.
    static int held(Object a) {
        synchronized (a) {
            return implicit(null);
        }
    }

    // illegal exact: +illegal +direct -direct -illegal
    // illegal throws: +illegal +direct -direct
    // illegal normal: +illegal +direct
    static void illegal(Object lock) {
        synchronized (lock) {
            synchronized (lock) {
                count++;
            }
        }
        direct();
    }

    public static void main(String[] args) {
        for (int step = 0; ; step++) {
            try {
                if (!scenario(step)) {
                    return;
                }
            } catch (Throwable t) {
                Probe.out(t);
            }
        }
    }

    static boolean scenario(int step) throws Throwable {
        switch (step) {
            case 0: Probe.mark("plain"); Probe.out(plain()); return true;
            case 1: Probe.mark("noCode"); noCode(); return true;
            case 2: Probe.mark("direct"); direct(); return true;
            case 3: Probe.mark("implicit"); implicit(null); return true;
            case 4: Probe.mark("through"); through(); return true;
            case 5: Probe.mark("caught"); Probe.out(caught()); return true;
            case 6: Probe.mark("otherType"); otherType(); return true;
            case 7: Probe.mark("rethrown"); rethrown(); return true;
            case 8: Probe.mark("inFinally"); inFinally(); return true;
            case 9: Probe.mark("overruled"); Probe.out(overruled()); return true;
            case 10: Probe.mark("finallyThrows"); finallyThrows(); return true;
            case 11: Probe.mark("handlerThrows"); handlerThrows(); return true;
            case 12: Probe.mark("nested"); Probe.out(nested()); return true;
            case 13: Probe.mark("retry"); Probe.out(retry()); return true;
            case 14: Probe.mark("givesUp"); givesUp(); return true;
            case 15: Probe.mark("loopAtZero"); Probe.out(loopAtZero(3)); return true;
            case 16: Probe.mark("endless"); endless(3); return true;
            case 17: Probe.mark("jumps"); Probe.out(jumps()); return true;
            case 18: Probe.mark("thrice"); Probe.out(thrice()); return true;
            case 19: Probe.mark("resource"); resource(); return true;
            case 20: Probe.mark("multi"); Probe.out(multi(0) + multi(1)); return true;
            case 21: Probe.mark("nothing"); nothing(); return true;
            case 22: Probe.mark("deep"); Probe.out(down(40)); return true;
            case 23: Probe.mark("locked"); locked(); return true;
            case 24: Probe.mark("monitors"); monitors("a", new Object()); return true;
            case 25: Probe.mark("held"); Probe.out(held("x")); return true;
            case 26: Probe.mark("illegal"); illegal("y"); return true;
            default: return false;
        }
    }
}
