/** The class that instrumented methods call, and the recorder that it passes the calls to. */
module dev.tracegen.runtime {
    // Android has no such module. The facts from it are unknown there.
    requires static java.management;

    exports dev.tracegen.runtime;
    exports dev.tracegen.runtime.report;
}
