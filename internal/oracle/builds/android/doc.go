// Package android builds the sample apps of examples with released versions of the Android Gradle plugin, and checks
// what the tracegen plugin did: which tasks ran, the mapping, and the calls in the dex files.
//
// There is no Android SDK here. [StandIn] makes a directory that the Android Gradle plugin accepts as one, out of
// published artifacts: it suffices to compile, link resources, shrink with R8 and package an unsigned APK. No app is
// run on a device.
//
// The tests download several hundred megabytes for each version of the plugin. TRACEGEN_AGP is the list of versions,
// separated by commas; without it `make nightly` builds with one version, and `make builds` with all of [Versions].
// If TRACEGEN_MATRIX names a file, the test writes the table of all builds into it, as Markdown.
package android
