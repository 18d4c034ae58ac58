package dev.tracegen.runtime.report;

/** Decides when to send. */
public interface Moment {
    /** Every moment is good. */
    Moment ALWAYS = new Moment() {
        @Override
        public String unsuitable() {
            return "";
        }

        @Override
        public String toString() {
            return "always";
        }
    };

    /**
     * Returns why now is no good moment to send: a network that costs money, a low battery. Called on the sender's
     * thread before each batch.
     *
     * @return empty if the moment is good; otherwise the reason, for the log
     */
    String unsuitable();
}
