package com.android.builder.model;

/** A stub of the class of the Android Gradle plugin; Matrix's plugin reads only the version. */
public final class Version {
  private Version() {}

  public static final String ANDROID_GRADLE_PLUGIN_VERSION = "4.0.0";
}
