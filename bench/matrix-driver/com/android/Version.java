package com.android;

/** A stub of the class of the Android Gradle plugin; Matrix's plugin reads only the version. */
public final class Version {
    private Version() {}

    /** The first version with which Matrix makes ASM read class files of Java 9. With an older one it would do less. */
    public static final String ANDROID_GRADLE_PLUGIN_VERSION = "7.0.0";
}
