/** The public API of the core, the Android part and the drop-in for Matrix, without function. */
module dev.tracegen.runtime {
    exports com.tencent.matrix.trace.core;
    exports dev.tracegen.runtime;
    exports dev.tracegen.runtime.report;
    exports dev.tracegen.runtime.android;
}
