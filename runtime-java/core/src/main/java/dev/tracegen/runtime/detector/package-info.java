/**
 * Detectors: each looks for one kind of trouble that the messages of a Looper do not show, such as a sync barrier that
 * was never removed, and reports an {@link dev.tracegen.runtime.Incident} when it finds it.
 *
 * <p>This package is not for apps: its names are public only because the Android part needs them. So the module does
 * not export it, and the no-op does not have it. An app switches detectors on by their names, and receives incidents by
 * an {@link dev.tracegen.runtime.IncidentListener}.
 *
 * <p>A {@link dev.tracegen.runtime.detector.Detector} is switched on and off by its name at any time, by
 * {@link dev.tracegen.runtime.detector.Detectors}. All of its methods run on one thread, that of the
 * {@link dev.tracegen.runtime.detector.Schedule}, so that a detector needs no locks. It reaches the Looper only through
 * {@link dev.tracegen.runtime.detector.LoopAccess} and the time only through the schedule: tests replace both.
 */
@NullMarked
package dev.tracegen.runtime.detector;

import org.jspecify.annotations.NullMarked;
