package android

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
func (s Setup) Copy(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	for _, made := range []string{"build", ".gradle", "app/build", "feed/build", "model/build", "stars/build"} {
		if err := os.RemoveAll(filepath.Join(to, made)); err != nil {
			return err
		}
	}
	err := Edit(filepath.Join(to, "settings.gradle"), func(text string) string {
		text = strings.ReplaceAll(text, "        google()\n", "")
		text = strings.Replace(text, "pluginManagement {\n", settingsOfTests, 1)
		return text + fmt.Sprintf("\nbuildCache { local { directory = new File('%s') } }\n", s.BuildCache)
	})
	if err != nil {
		return err
	}
	err = Edit(filepath.Join(to, "gradle.properties"), func(text string) string {
		var b strings.Builder
		// The last line of a name counts.
		fmt.Fprintf(&b, "%sagp=%s\ntracegenRepository=%s\n", text, s.Plugin.Version, s.Repository)
		fmt.Fprintf(&b, "android.aapt2FromMavenOverride=%s\n", filepath.Join(s.SDK, "aapt2"))
		b.WriteString("android.builder.sdkDownload=false\nandroid.overrideVersionCheck=true\n" +
			"android.suppressUnsupportedCompileSdk=29\n")
		if strings.HasPrefix(s.Plugin.Version, "9.") {
			// The plugin's own Kotlin would add a newer kotlin-stdlib, and so other methods than with other versions.
			b.WriteString("android.builtInKotlin=false\n")
		}
		return b.String()
	})
	if err != nil {
		return err
	}
	catalog := filepath.Join(to, "gradle", "libs.versions.toml")
	if data, err := os.ReadFile(catalog); err == nil {
		text := agpVersion.ReplaceAllString(string(data), `agp = "`+s.Plugin.Version+`"`)
		if err := os.WriteFile(catalog, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(to, "local.properties"), []byte("sdk.dir="+s.SDK+"\n"), 0o644)
}

// agpVersion is the line of a version catalog with the version of the Android Gradle plugin.
var agpVersion = regexp.MustCompile(`(?m)^agp = ".*"$`)

// Edit replaces the content of a file by what change returns. It fails if that is no change.
func Edit(file string, change func(string) string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed := change(string(data))
	if changed == string(data) {
		return fmt.Errorf("%s: the edit changes nothing", file)
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}
