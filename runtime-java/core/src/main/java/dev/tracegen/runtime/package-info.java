/**
 * The class that instrumented methods call, and the recorder.
 * It runs on Android and on any JVM and has no dependencies.
 *
 * <p>Nothing in the public API takes or returns null unless its type is marked as nullable. The marks are JSpecify's,
 * which Kotlin reads. Their classes are needed only to compile this library.
 */
@NullMarked
package dev.tracegen.runtime;

import org.jspecify.annotations.NullMarked;
