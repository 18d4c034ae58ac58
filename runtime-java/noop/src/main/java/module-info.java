/** The surface of the runtime, its Android part and the drop-in, with nothing behind it. */
module dev.tracegen.runtime {
    exports com.tencent.matrix.trace.core;
    exports dev.tracegen.runtime;
    exports dev.tracegen.runtime.android;
}
