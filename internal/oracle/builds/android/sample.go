package android

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// Plugin is a version of the Android Gradle plugin and the version of Gradle that builds it here.
type Plugin struct {
	Version, Gradle string
}

// Versions are the plugins that the tests know, the oldest first.
var Versions = []Plugin{{"7.4.2", "7.6.4"}, {"8.0.2", "8.8"}, {"8.13.2", "8.11.1"}, {"9.0.1", "8.11.1"}}

// settingsOfTests is added to the block about plugins in settings.gradle: plugins of Android are found without their
// markers, which not every repository has.
const settingsOfTests = `pluginManagement {
    resolutionStrategy {
        eachPlugin {
            if (requested.id.id.startsWith('com.android.')) {
                useModule('com.android.tools.build:gradle:' + providers.gradleProperty('agp').get())
            }
        }
    }
`

// Setup is what a copy of a sample is built with.
type Setup struct {
	// Plugin is the Android Gradle plugin.
	Plugin Plugin
	// SDK is the directory that [StandIn] returns.
	SDK string
	// Repository is the directory that release/maven-repository has filled.
	Repository string
	// BuildCache is the directory of Gradle's build cache.
	BuildCache string
}

// Copy writes a copy of the sample in the directory from to the directory to, which must not exist, and adds what the
// build needs on this machine. google() is removed: Maven Central, or the mirror in its place, has all artifacts here.
func (s Setup) Copy(t testing.TB, from, to string) {
	t.Helper()
	oracle.Require(t, os.CopyFS(to, os.DirFS(from)))
	for _, made := range []string{"build", ".gradle", "app/build", "feed/build", "model/build", "stars/build"} {
		oracle.Require(t, os.RemoveAll(filepath.Join(to, made)))
	}
	settings := filepath.Join(to, "settings.gradle")
	text := strings.ReplaceAll(fixture.Text(t, settings), "        google()\n", "")
	text = strings.Replace(text, "pluginManagement {\n", settingsOfTests, 1)
	fixture.Write(t, settings, text+fmt.Sprintf("\nbuildCache { local { directory = new File('%s') } }\n", s.BuildCache))

	// The last line of a name counts.
	properties := filepath.Join(to, "gradle.properties")
	text = fmt.Sprintf("%sagp=%s\ntracegenRepository=%s\nandroid.aapt2FromMavenOverride=%s\n"+
		"android.builder.sdkDownload=false\nandroid.overrideVersionCheck=true\nandroid.suppressUnsupportedCompileSdk=29\n",
		fixture.Text(t, properties), s.Plugin.Version, s.Repository, filepath.Join(s.SDK, "aapt2"))
	if strings.HasPrefix(s.Plugin.Version, "9.") {
		// The plugin's own Kotlin would add a newer kotlin-stdlib, and so other methods than with other versions.
		text += "android.builtInKotlin=false\n"
	}
	fixture.Write(t, properties, text)
	catalog := filepath.Join(to, "gradle", "libs.versions.toml")
	if data, err := os.ReadFile(catalog); err == nil {
		fixture.Write(t, catalog, agpVersion.ReplaceAllString(string(data), `agp = "`+s.Plugin.Version+`"`))
	}
	fixture.Write(t, filepath.Join(to, "local.properties"), "sdk.dir="+s.SDK+"\n")
}

var agpVersion = regexp.MustCompile(`(?m)^agp = ".*"$`)

// Edit replaces a text in a file, which must have it.
func Edit(t testing.TB, file, from, to string) {
	t.Helper()
	text := fixture.Text(t, file)
	changed := strings.Replace(text, from, to, 1)
	if changed == text {
		t.Fatalf("%s: the edit changes nothing", file)
	}
	fixture.Write(t, file, changed)
}
