import android.app.Activity;

/** Activities with and without a focus method of their own; every one reports each change. */
public final class Focus {
    private Focus() {
    }

    /** The method is added: one call. */
    static class Plain extends Activity {
    }

    /** It inherits the method: one call. */
    static class Quiet extends Plain {
        final long state = System.identityHashCode(this);
    }

    /** It has the method, which calls its superclass's: two calls. */
    static class Child extends Plain {
        @Override
        public void onWindowFocusChanged(boolean hasFocus) {
            System.out.println("child before " + hasFocus);
            super.onWindowFocusChanged(hasFocus);
            System.out.println("child after");
        }
    }

    /** It has the method, which does not call its superclass's and may throw: one call. */
    static class Own extends Activity {
        @Override
        public void onWindowFocusChanged(boolean hasFocus) {
            if (!hasFocus) {
                throw new IllegalStateException("lost");
            }
            System.out.println("own");
        }
    }

    /** No Activity: no call. */
    static class Other {
        public void onWindowFocusChanged(boolean hasFocus) {
            System.out.println("other " + hasFocus);
        }
    }

    public static void main(String[] args) {
        for (boolean focus : new boolean[] {true, false}) {
            for (Activity a : new Activity[] {new Plain(), new Quiet(), new Child(), new Own()}) {
                try {
                    a.onWindowFocusChanged(focus);
                } catch (IllegalStateException e) {
                    System.out.println(e.getMessage());
                }
            }
            new Other().onWindowFocusChanged(focus);
        }
    }
}
