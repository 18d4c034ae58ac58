package dev.tracegen.runtime.report;

/** Reports that are sent together. The no-op creates none. */
public final class Batch {
    private Batch() {
    }

    /**
     * Returns the number of reports.
     *
     * @return 0
     */
    public int size() {
        return 0;
    }

    /**
     * Returns the reports, of which there are none.
     *
     * @return no bytes
     */
    public byte[] lines() {
        return new byte[0];
    }

    /**
     * Returns the reports, of which there are none.
     *
     * @return no bytes
     */
    public byte[] gzip() {
        return new byte[0];
    }
}
