/** The surface of the runtime with nothing behind it. */
module dev.tracegen.runtime {
    requires static java.management;

    exports dev.tracegen.runtime;
}
