package dev.tracegen.runtime;

/** A type of a field of {@link RecorderOptions}. The no-op has no object of it. */
abstract class CallMessages {
}
