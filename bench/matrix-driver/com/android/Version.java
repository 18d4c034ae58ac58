package com.android;

/** Stands for the class of the Android Gradle plugin, of which Matrix's plugin asks the version alone. */
public final class Version {
    private Version() {}

    /** The first with which Matrix lets ASM read what Java 9 brought: with an older one it would do less. */
    public static final String ANDROID_GRADLE_PLUGIN_VERSION = "7.0.0";
}
