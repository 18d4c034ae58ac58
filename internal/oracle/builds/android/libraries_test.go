package android_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// libraries are the changes of the sample that add Kotlin, Hilt by KSP, Compose, and the desugared library. Hilt
// transforms classes too. Room is not among them: of the versions of its compiler that were tried, 2.8.4 alone resolves
// here, and that wants the Android Gradle plugin 8.1.1, minSdk 23, and a Kotlin that reads class files of Kotlin 2.2.
var libraries = []struct{ file, from, to string }{
	{"build.gradle", "    id 'dev.tracegen' apply false\n", `    id 'dev.tracegen' apply false
    id 'org.jetbrains.kotlin.android' version '1.9.24' apply false
    id 'com.google.devtools.ksp' version '1.9.24-1.0.20' apply false
    id 'com.google.dagger.hilt.android' version '2.48' apply false
`},
	{"app/build.gradle", "    id 'dev.tracegen'\n", `    id 'dev.tracegen'
    id 'org.jetbrains.kotlin.android'
    id 'com.google.devtools.ksp'
    id 'com.google.dagger.hilt.android'
`},
	{"app/build.gradle", "    compileOptions {\n", `    kotlinOptions {
        jvmTarget = '1.8'
    }
    compileOptions {
        coreLibraryDesugaringEnabled = true
`},
	{"app/build.gradle", "dependencies {\n", `dependencies {
    coreLibraryDesugaring 'com.android.tools:desugar_jdk_libs:2.0.4'
    implementation 'com.google.dagger:hilt-android:2.48'
    ksp 'com.google.dagger:hilt-compiler:2.48'
    implementation 'androidx.activity:activity-compose:1.8.0'
    kotlinCompilerPluginClasspath 'org.jetbrains.compose.compiler:compiler:1.5.14'
`},
	// R8 would need more memory than Gradle has in the tests. TestMatrix and TestFlavors run it.
	{"app/build.gradle", "minifyEnabled = true", "minifyEnabled = false"},
	// Newer libraries demand it.
	{"app/build.gradle", "compileSdk = 29", "compileSdk = 34"},
	{"feed/build.gradle", "compileSdk = 29", "compileSdk = 34"},
	{"app/src/main/java/dev/tracegen/example/ExampleApp.java", "public class ExampleApp",
		"@dagger.hilt.android.HiltAndroidApp\npublic class ExampleApp"},
	{"app/src/main/AndroidManifest.xml", "    </application>",
		"        <activity android:name=\".ScreenActivity\" android:exported=\"false\" />\n    </application>"},
	{"gradle.properties", "org.gradle.caching=true", "org.gradle.caching=true\nandroid.useAndroidX=true\n" +
		"kotlin.compiler.execution.strategy=in-process"},
}

// TestLibraries builds an app with libraries that make classes themselves.
func TestLibraries(t *testing.T) {
	nightly.Only(t, "android")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			if setup.Plugin.Version != "8.0.2" {
				t.Skip("skipped: Kotlin 1.9.24 and Hilt 2.48 are for the Android Gradle plugin 8.0")
			}
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			dir := filepath.Join(t.TempDir(), "app")
			if err := setup.Copy(sample("android-app"), dir); err != nil {
				t.Fatal(err)
			}
			for _, c := range libraries {
				err := android.Edit(filepath.Join(dir, filepath.FromSlash(c.file)),
					func(text string) string { return strings.Replace(text, c.from, c.to, 1) })
				if err != nil {
					t.Fatal(err)
				}
			}
			sources := filepath.Join(dir, "app", "src", "main", "kotlin")
			if err := os.CopyFS(sources, os.DirFS(filepath.Join("testdata", "libraries"))); err != nil {
				t.Fatal(err)
			}
			r := gradle(t, builds.NewGradle(t, setup.Plugin.Gradle, "android"), dir, ":app:assembleRelease")
			if strings.Contains(r.Output, "tracegen: ") {
				t.Errorf("the release build has warnings:\n%s", r.Output)
			}
			file := filepath.Join(dir, "app", "build", "outputs", "tracegen", "release", "methodMapping.txt")
			text := string(readFile(t, file))
			for _, method := range []string{"dev.tracegen.example.Clock day", "dev.tracegen.example.ScreenKt Screen",
				"dev.tracegen.example.Hilt_ScreenActivity componentManager", "dagger.hilt.android.internal.",
				"androidx.compose.runtime.ComposerImpl "} {
				if !strings.Contains(text, method) {
					t.Errorf("the mapping lacks %s", method)
				}
			}
			loaded, err := mapping.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			dex, err := android.ReadDex(t.Context(), filepath.Join(dir, "app", "build", "outputs", "apk", "release",
				"app-release-unsigned.apk"))
			oracle.Require(t, err)
			if dex.Entries < 100 || dex.Digest != loaded.Digest() && !slices.Contains(dex.Strings, loaded.Digest()) {
				t.Errorf("%d entry calls in the dex files, digest %q of %q", dex.Entries, dex.Digest, dex.Strings)
			}
		})
	}
}
