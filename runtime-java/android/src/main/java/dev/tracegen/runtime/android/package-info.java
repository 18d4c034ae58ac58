/**
 * What tells the recorder of an Android app's loopers: when a message begins and ends, what runs while the queue is
 * idle, what waits, which frames were drawn.
 *
 * <p>{@link dev.tracegen.runtime.android.TracegenRuntime#start(android.content.Context)} is all that an app needs. The
 * rest is for who wants to listen to loopers himself: {@link dev.tracegen.runtime.android.LooperMonitor#of}.
 *
 * <p>Whatever is not public in Android is reached by reflection, looked for once, and may be missing: each class here
 * says what is then not available, and nothing fails. Nothing here throws into the app or posts messages to its queue.
 */
package dev.tracegen.runtime.android;
