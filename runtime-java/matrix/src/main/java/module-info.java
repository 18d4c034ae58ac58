/** The runtime class with the name that Matrix's plugin uses. */
module dev.tracegen.runtime.matrix {
    requires dev.tracegen.runtime;

    exports com.tencent.matrix.trace.core;
}
