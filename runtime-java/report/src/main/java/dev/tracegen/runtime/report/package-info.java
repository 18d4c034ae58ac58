/**
 * Sends reports of stalls and incidents from the device to a collector. It has no dependencies and uses no class of
 * Android, so that it runs on any JVM.
 *
 * <p>A {@link dev.tracegen.runtime.report.Reporter} receives each stall and incident from the recorder. It decides by
 * {@link dev.tracegen.runtime.report.Sampling} whether it is of interest, makes a
 * {@link dev.tracegen.runtime.report.Report} of it, which is one JSON object, and adds it to the
 * {@link dev.tracegen.runtime.report.Outbox}, a directory with one file for each report. A
 * {@link dev.tracegen.runtime.report.Sender} takes batches from there when the moment is good, and hands them to an
 * {@link dev.tracegen.runtime.report.Uploader}. {@link dev.tracegen.runtime.report.HttpUploader} is the one that
 * {@code tracegen collect} understands. A report is deleted only when it was delivered, or refused for ever, or when
 * the outbox is full. {@link dev.tracegen.runtime.report.RemoteConfig} reads signed settings from the same collector.
 *
 * <p>Everything that reads or writes files says so; none of it may run on the main thread of an app. What may be null
 * is marked as in the package of the recorder.
 */
@NullMarked
package dev.tracegen.runtime.report;

import org.jspecify.annotations.NullMarked;
