/** Matrix's class name for what instrumented methods call. */
module dev.tracegen.runtime.matrix {
    requires dev.tracegen.runtime;

    exports com.tencent.matrix.trace.core;
}
