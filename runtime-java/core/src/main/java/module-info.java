/** What instrumented methods call, and the recorder behind it. */
module dev.tracegen.runtime {
    // Android has none; what only it knows is then not known.
    requires static java.management;

    exports dev.tracegen.runtime;
}
