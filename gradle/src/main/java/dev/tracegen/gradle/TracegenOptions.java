package dev.tracegen.gradle;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.SetProperty;

/**
 * The settings of one instrumented variant. Every property has the name and the values of the option of
 * {@code tracegen instrument}, unless said otherwise. A property that is not set leaves the choice to
 * {@code tracegen.yml}, or to the default of tracegen.
 */
public abstract class TracegenOptions {
    /**
     * Whether anything is instrumented. The default is true for JVM programs, and for Android true for variants whose
     * build type is not debuggable.
     *
     * @return the property
     */
    public abstract Property<Boolean> getEnabled();

    /**
     * Whether the work is divided into scan, assign and instrument, so that only what changed is done again. The
     * outputs are the same. The default is false, which is faster for a build of everything.
     *
     * @return the property
     */
    public abstract Property<Boolean> getIncremental();

    /**
     * The file of options and rules. The default is {@code tracegen.yml} of the project, or of the root project, if it
     * exists. The file must not name other files ({@code base:}, {@code blocklist:}): Gradle would not see that they
     * change. Use the properties of the same names instead.
     *
     * @return the property
     */
    public abstract RegularFileProperty getConfig();

    /**
     * The mapping of the last release; its methods keep their IDs.
     *
     * @return the property
     */
    public abstract RegularFileProperty getBase();

    /**
     * Mappings of the releases in use. Retired IDs that none of them has are free again. Needs {@link #getBase()}.
     *
     * @return the files
     */
    public abstract ConfigurableFileCollection getPrune();

    /**
     * Block lists in the format of Matrix.
     *
     * @return the files
     */
    public abstract ConfigurableFileCollection getBlocklist();

    /**
     * Further jars in which the type check finds classes that the inputs refer to. The platform (the JDK, or
     * android.jar) and the inputs themselves need not be named.
     *
     * @return the files
     */
    public abstract ConfigurableFileCollection getClasspath();

    /**
     * Which exits are reported: {@code normal}, {@code throws} or {@code exact}. If {@code tracegen.yml} does not say,
     * it is {@code exact} for JVM programs, and {@code throws} for Android.
     *
     * @return the property
     */
    public abstract Property<String> getExits();

    /**
     * Which methods are too small to be traced: {@code bounded}, {@code smart}, {@code matrix} or {@code none}.
     *
     * @return the property
     */
    public abstract Property<String> getTrivial();

    /**
     * The runtime that is called: {@code android} (that of tracegen) or {@code matrix}.
     *
     * @return the property
     */
    public abstract Property<String> getPreset();

    /**
     * How rewritten classes are checked: {@code full} or {@code equivalence}.
     *
     * @return the property
     */
    public abstract Property<String> getVerify();

    /**
     * What the classes are made for: {@code android} or {@code jvm}. If {@code tracegen.yml} does not say, the kind of
     * project decides.
     *
     * @return the property
     */
    public abstract Property<String> getTarget();

    /**
     * The class that is called, if it is not that of tracegen.
     *
     * @return the property
     */
    public abstract Property<String> getRuntimeClass();

    /**
     * Whether the runtime class is provided elsewhere, so that no runtime is added.
     *
     * @return the property
     */
    public abstract Property<Boolean> getRuntimeExternal();

    /**
     * Whether the runtime becomes a dependency of Android variants: {@code tracegen-runtime-android} of those that are
     * instrumented, {@code tracegen-runtime-noop} of the others. The default is true. None is added if
     * {@link #getRuntimeExternal()}, {@link #getRuntimeClass()} or the preset {@code matrix} is set.
     *
     * @return the property
     */
    public abstract Property<Boolean> getRuntimeDependency();

    /**
     * Whether {@code tracegen-runtime-report} becomes a dependency too: it sends reports if the app is configured to.
     * The default is true, because what the app configures is not known when it is built.
     *
     * @return the property
     */
    public abstract Property<Boolean> getRuntimeReports();

    /**
     * Guards with their default limits: {@code introduced}, {@code unverifiable}, {@code growth}, {@code ratio},
     * {@code digest}. A guard that fails fails the build after all outputs are written.
     *
     * @return the property
     */
    public abstract SetProperty<String> getFailOn();

    /**
     * The largest growth of the class files, in percent. Setting it enables the guard {@code growth}.
     *
     * @return the property
     */
    public abstract Property<Double> getMaxGrowth();

    /**
     * The smallest number of traced methods, as a ratio to those of {@link #getBase()}. Setting it enables the guard
     * {@code ratio}.
     *
     * @return the property
     */
    public abstract Property<Double> getMinMethodsRatio();

    /**
     * The digest that the mapping must have. Setting it enables the guard {@code digest}.
     *
     * @return the property
     */
    public abstract Property<String> getExpectDigest();

    /**
     * How entries that change are compressed: {@code store}, {@code fast}, {@code default} or {@code best}.
     *
     * @return the property
     */
    public abstract Property<String> getCompression();

    /**
     * Further options, each as one element, for example {@code --set=constructor-entry=after-super}. They must not name
     * files: Gradle would not see that these change.
     *
     * @return the property
     */
    public abstract ListProperty<String> getArguments();

    /**
     * Makes the values of other options the defaults of these.
     *
     * @param other the options to take defaults from
     */
    void inherit(TracegenOptions other) {
        getIncremental().convention(other.getIncremental());
        getConfig().convention(other.getConfig());
        getBase().convention(other.getBase());
        getPrune().from(other.getPrune());
        getBlocklist().from(other.getBlocklist());
        getClasspath().from(other.getClasspath());
        getExits().convention(other.getExits());
        getTrivial().convention(other.getTrivial());
        getPreset().convention(other.getPreset());
        getVerify().convention(other.getVerify());
        getTarget().convention(other.getTarget());
        getRuntimeClass().convention(other.getRuntimeClass());
        getRuntimeExternal().convention(other.getRuntimeExternal());
        getRuntimeDependency().convention(other.getRuntimeDependency());
        getRuntimeReports().convention(other.getRuntimeReports());
        getFailOn().convention(other.getFailOn());
        getMaxGrowth().convention(other.getMaxGrowth());
        getMinMethodsRatio().convention(other.getMinMethodsRatio());
        getExpectDigest().convention(other.getExpectDigest());
        getCompression().convention(other.getCompression());
        getArguments().convention(other.getArguments());
    }
}
