/**
 * Connects the recorder to the Loopers of an Android app. It reports to the recorder when a message begins and ends,
 * which IdleHandlers run, which messages wait, and which frames were drawn.
 *
 * <p>An app calls {@link dev.tracegen.runtime.android.TracegenRuntime#start(android.content.Context)}; that is all it
 * needs. {@link dev.tracegen.runtime.android.LooperMonitor#of} is for code that wants to listen to a Looper itself.
 *
 * <p>Members that are not public in Android are reached by reflection. They are looked up once and may be missing.
 * Each class says what is not available then; nothing fails. Nothing here throws into the app. Messages are posted to
 * a queue only where a class says so.
 *
 * <p>What may be null is marked as in the core.
 */
@NullMarked
package dev.tracegen.runtime.android;

import org.jspecify.annotations.NullMarked;
