/**
 * The Gradle plugin {@code dev.tracegen}. It runs the tracegen binary in builds of JVM programs and Android apps.
 *
 * <h2>Parts</h2>
 *
 * {@link dev.tracegen.gradle.TracegenPlugin} creates the extension {@code tracegen} and the configuration
 * {@code tracegenTool}, and applies {@link dev.tracegen.gradle.JvmSupport} when the plugin {@code java} is applied, or
 * {@link dev.tracegen.gradle.AndroidSupport} when an Android plugin is. Only AndroidSupport and the classes that it
 * names refer to classes of the Android Gradle plugin: they are not loaded in a build without it.
 *
 * <p>{@link dev.tracegen.gradle.ToolBinary} finds the binary. {@link dev.tracegen.gradle.ToolRunner} runs it, passes
 * its messages to Gradle's log, and makes an exception of a failure. All tasks extend
 * {@link dev.tracegen.gradle.TracegenTask}.
 *
 * <h2>Two ways to the same outputs</h2>
 *
 * By default one {@link dev.tracegen.gradle.InstrumentTask} instruments all inputs. With {@code incremental = true} the
 * work is divided, as docs/instrument.md describes for distributed builds:
 *
 * <ol>
 * <li>{@link dev.tracegen.gradle.ScanTransform}, a cacheable artifact transform, scans each dependency;
 * {@link dev.tracegen.gradle.ScanTask} scans the classes of the module and the runtime.</li>
 * <li>{@link dev.tracegen.gradle.AssignTask} reads all scan files, and writes the mapping and a slice for each
 * part.</li>
 * <li>{@link dev.tracegen.gradle.InstrumentPartsTask} instruments the parts whose slice or content has changed.</li>
 * </ol>
 *
 * <p>A part is one jar or one directory of classes. Its scan file has the name {@code STEM-KEY.scan}, and its slice the
 * name {@code STEM-KEY.slice}. {@link dev.tracegen.gradle.PartKey} computes KEY from the names, sizes and CRC-32 of the
 * entries that tracegen reads. Because of that a task that has a jar finds its slice, whatever the order of its inputs
 * is and whichever way the jar came (as an artifact of a configuration, or from the Android Gradle plugin). If Gradle
 * takes a scan file from the build cache that was made of a jar with other times or another order of entries, the key
 * is still the same. A task that finds no scan file for a jar may scan it itself
 * ({@link dev.tracegen.gradle.ToolRunner#scan}). A part that was instrumented before is an output of the task, so the
 * build cache has it; in a workspace without outputs, the directory of {@code --cache} below Gradle's user home has it.
 *
 * <p>A scan file depends on more than its jar: on the options and rules that decide about classes one by one, on the
 * binary, and, in the type check, on the class path. {@link dev.tracegen.gradle.ScanOptions} holds all of these; it is
 * a nested input of tasks, and a parameter of the transform. The class path is that of the platform (android.jar, or
 * the JDK) and what the extension's {@code classpath} adds, and not the other dependencies: otherwise every scan would
 * be repeated if one dependency changed. A class that is not found is assumed to fit.
 *
 * <h2>Inputs and outputs</h2>
 *
 * Inputs that are classes are normalized as class paths ({@code @Classpath}): Gradle's own jars differ in their times
 * from build to build. Files of options are normalized to their content. No output depends on an absolute path: the
 * names of files in reports are shortened. Outputs lie in {@code build/tracegen/VARIANT/}, which no other task writes
 * to.
 */
package dev.tracegen.gradle;
