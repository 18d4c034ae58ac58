// Package native holds the tests of the native part of the runtime, runtime-java/native: in C on this machine's
// processor, under sanitizers and for ARM in an emulator, on a JVM through the real Java classes, and a build for
// Android's four ABIs, of which only the files are checked. Nothing here runs on a device.
package native
