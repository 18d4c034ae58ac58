/** The class that instrumented methods call, and the recorder that it passes the calls to. */
module dev.tracegen.runtime {
    // Without it the facts from it are unknown.
    requires static java.management;

    exports dev.tracegen.runtime;
}
