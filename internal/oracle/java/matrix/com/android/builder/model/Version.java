package com.android.builder.model;

/** Stands for the class of the Android Gradle plugin, of which Matrix's plugin asks the version alone. */
public final class Version {
  private Version() {}

  public static final String ANDROID_GRADLE_PLUGIN_VERSION = "4.0.0";
}
