package android_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// versions are those of libraries that fit one version of the Android Gradle plugin.
type versions struct {
	kotlin, ksp, hilt string
	// compose is the artifact of Compose's compiler, without its version.
	compose string
	// room is the version of Room, or "": the Kotlin of AGP 8.0's time cannot read the class files of the only release
	// whose compiler is available here.
	room string
}

// librariesOf are the versions by version of the Android Gradle plugin.
var librariesOf = map[string]versions{
	"8.0.2": {kotlin: "1.9.24", ksp: "1.9.24-1.0.20", hilt: "2.48",
		compose: "org.jetbrains.compose.compiler:compiler:1.5.14"},
	"8.13.2": {kotlin: "2.2.0", ksp: "2.2.0-2.0.2", hilt: "2.57.2", room: "2.8.4",
		compose: "org.jetbrains.kotlin:kotlin-compose-compiler-plugin-embeddable:2.2.0"},
}

// change is one edit of a file of the sample.
type change struct{ file, from, to string }

// changes add Kotlin, Hilt by KSP, Compose, the desugared library and perhaps Room to the sample. Hilt transforms
// classes too.
func (v versions) changes() []change {
	var room string
	if v.room != "" {
		room = fmt.Sprintf(`    implementation 'androidx.room:room-runtime:%[1]s'
    ksp 'androidx.room:room-compiler:%[1]s'
`, v.room)
	}
	all := []change{
		{"build.gradle", "    id 'dev.tracegen' apply false\n", fmt.Sprintf(`    id 'dev.tracegen' apply false
    id 'org.jetbrains.kotlin.android' version '%s' apply false
    id 'com.google.devtools.ksp' version '%s' apply false
    id 'com.google.dagger.hilt.android' version '%s' apply false
`, v.kotlin, v.ksp, v.hilt)},
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
		{"app/build.gradle", "dependencies {\n", fmt.Sprintf(`dependencies {
    coreLibraryDesugaring 'com.android.tools:desugar_jdk_libs:2.0.4'
    implementation 'com.google.dagger:hilt-android:%[1]s'
    ksp 'com.google.dagger:hilt-compiler:%[1]s'
    implementation 'androidx.activity:activity-compose:1.8.0'
    kotlinCompilerPluginClasspath '%[2]s'
%[3]s`, v.hilt, v.compose, room)},
		// R8 would need more memory than Gradle has in the tests. TestMatrix and TestFlavors run it.
		// By default, little of these libraries is traced. TestScope builds with the default.
		{"app/build.gradle", "tracegen {\n", "tracegen {\n    scope = 'all'\n"},
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
	if v.room != "" {
		all = append(all, change{"app/build.gradle", "minSdk = 21", "minSdk = 23"}) // Room demands it.
	}
	return all
}

// TestLibraries builds an app with libraries that make classes themselves.
func TestLibraries(t *testing.T) {
	nightly.Only(t, "android-apps")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			versions, known := librariesOf[setup.Plugin.Version]
			if !known {
				t.Skip("skipped: no versions of Kotlin and Hilt are known for this Android Gradle plugin")
			}
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			dir := filepath.Join(t.TempDir(), "app")
			setup.Copy(t, sample("android-app"), dir)
			for _, c := range versions.changes() {
				android.Edit(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.from, c.to)
			}
			methods := []string{"dev.tracegen.example.Clock day", "dev.tracegen.example.ScreenKt Screen",
				"dev.tracegen.example.Hilt_ScreenActivity componentManager", "dagger.hilt.android.internal.",
				"androidx.compose.runtime.ComposerImpl "}
			sources := filepath.Join(dir, "app", "src", "main", "kotlin")
			if err := os.CopyFS(sources, os.DirFS(filepath.Join("testdata", "libraries"))); err != nil {
				t.Fatal(err)
			}
			if versions.room != "" {
				methods = append(methods, "dev.tracegen.example.NoteDao_Impl ", "androidx.room.RoomDatabase ")
				err := os.CopyFS(filepath.Join(dir, "app", "src", "main"), os.DirFS(filepath.Join("testdata", "room")))
				if err != nil {
					t.Fatal(err)
				}
			}
			r := gradle(t, builds.NewGradle(t, setup.Plugin.Gradle, "android"), dir, ":app:assembleRelease")
			if strings.Contains(r.Output, "tracegen: ") {
				t.Errorf("the release build has warnings:\n%s", r.Output)
			}
			file := filepath.Join(dir, "app", "build", "outputs", "tracegen", "release", "methodMapping.txt")
			text := string(fixture.Read(t, file))
			for _, method := range methods {
				if !strings.Contains(text, method) {
					t.Errorf("the mapping lacks %s", method)
				}
			}
			loaded, err := mapping.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			dex := android.ReadDex(t, filepath.Join(dir, "app", "build", "outputs", "apk", "release",
				"app-release-unsigned.apk"))
			if dex.Entries < 100 || dex.Digest != loaded.Digest() && !slices.Contains(dex.Strings, loaded.Digest()) {
				t.Errorf("%d entry calls in the dex files, digest %q of %q", dex.Entries, dex.Digest, dex.Strings)
			}
		})
	}
}
