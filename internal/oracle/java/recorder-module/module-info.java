/** The recording runtime as a named module, for programs that are run with {@code -p}. */
module dev.tracegen.runtime {
    exports dev.tracegen.runtime;
}
