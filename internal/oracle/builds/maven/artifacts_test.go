package maven

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// runtimeArtifacts are the published artifacts of the runtime by their types.
var runtimeArtifacts = []struct{ name, kind string }{{"tracegen-runtime", "jar"}, {"tracegen-runtime-core", "jar"},
	{"tracegen-runtime-report", "jar"}, {"tracegen-runtime-matrix", "jar"}, {"tracegen-runtime-noop", "jar"},
	{"tracegen-runtime-android", "aar"}}

// consumer is a class of a program that compiles against the runtime.
const consumer = `package consumer;

public final class Consumer {
    public static void main(String[] args) {
        dev.tracegen.runtime.Recorder.setStallListener(null);
        System.out.println("recorder " + dev.tracegen.runtime.Recorder.current());
    }
}
`

// TestRuntimeArtifacts resolves every artifact of the runtime with its sources and its Javadoc, from the repository
// that a team would write for itself, by Maven and by Gradle, and compiles a class against it. A warning of Javadoc
// fails the build of the repository.
//
// Invariant: Maven and Gradle resolve the runtime with sources and Javadoc from what release/maven-repository
// --documented has written.
func TestRuntimeArtifacts(t *testing.T) {
	nightly.Only(t, "tools")
	require(t)
	repo := repository(t, "--documented")
	version := releaseOf(t)
	t.Run("Maven", func(t *testing.T) { resolveByMaven(t, repo, version) })
	t.Run("Gradle", func(t *testing.T) { resolveByGradle(t, repo, version) })
}

func resolveByMaven(t *testing.T, repo, version string) {
	dir := t.TempDir()
	var items strings.Builder
	for _, a := range runtimeArtifacts {
		for _, classifier := range []string{"", "sources", "javadoc"} {
			kind := a.kind
			if classifier != "" {
				kind = "jar"
			}
			fmt.Fprintf(&items, "<artifactItem><groupId>dev.tracegen</groupId><artifactId>%s</artifactId>"+
				"<version>%s</version><type>%s</type><classifier>%s</classifier></artifactItem>\n", a.name, version, kind,
				classifier)
		}
	}
	fixture.Write(t, filepath.Join(dir, "pom.xml"), `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>consumer</groupId><artifactId>consumer</artifactId><version>1</version>
<properties><maven.compiler.release>8</maven.compiler.release></properties>
<repositories><repository><id>tracegen</id><url>file://`+repo+`</url></repository></repositories>
<dependencies><dependency><groupId>dev.tracegen</groupId><artifactId>tracegen-runtime</artifactId>
<version>`+version+`</version></dependency></dependencies>
<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId>
<version>3.13.0</version></plugin><plugin><groupId>org.apache.maven.plugins</groupId>
<artifactId>maven-dependency-plugin</artifactId>
<version>3.8.1</version><configuration><outputDirectory>resolved</outputDirectory><artifactItems>
`+items.String()+`</artifactItems></configuration></plugin></plugins></build></project>
`)
	fixture.Write(t, filepath.Join(dir, "src/main/java/consumer/Consumer.java"), consumer)
	run(t, dir, nil, "mvn", "-B", "-ntp", "-q", "-Dmaven.repo.local="+localRepository(t), "compile",
		"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy")
	checkResolved(t, filepath.Join(dir, "resolved"), version)
}

func resolveByGradle(t *testing.T, repo, version string) {
	g := builds.NewGradle(t, "8.8", "artifacts")
	dir := t.TempDir()
	var all strings.Builder
	for _, a := range runtimeArtifacts {
		fmt.Fprintf(&all, "    everything 'dev.tracegen:%s:%s@%s'\n", a.name, version, a.kind)
		for _, classifier := range []string{"sources", "javadoc"} {
			fmt.Fprintf(&all, "    everything 'dev.tracegen:%s:%s:%s'\n", a.name, version, classifier)
		}
	}
	fixture.Write(t, filepath.Join(dir, "settings.gradle"), "rootProject.name = 'consumer'\n")
	fixture.Write(t, filepath.Join(dir, "build.gradle"), `plugins { id 'java' }
repositories { maven { url = uri('`+repo+`') } }
configurations { everything { transitive = false } }
dependencies {
    implementation 'dev.tracegen:tracegen-runtime:`+version+`'
`+all.String()+`}
tasks.register('resolve', Copy) {
    from configurations.everything
    into 'resolved'
}
`)
	fixture.Write(t, filepath.Join(dir, "src/main/java/consumer/Consumer.java"), consumer)
	g.Build(t, dir, "classes", "resolve")
	checkResolved(t, filepath.Join(dir, "resolved"), version)
}

// checkResolved checks that a directory has each artifact of the runtime, with what must be in it.
func checkResolved(t *testing.T, dir, version string) {
	t.Helper()
	for _, a := range runtimeArtifacts {
		for suffix, want := range map[string]string{"." + a.kind: "META-INF/MANIFEST.MF", "-sources.jar": ".java",
			"-javadoc.jar": "index.html"} {
			if suffix == ".aar" {
				want = "proguard.txt"
			}
			file := filepath.Join(dir, a.name+"-"+version+suffix)
			has := func(e fixture.Entry) bool { return strings.HasSuffix(e.Name, want) }
			if !slices.ContainsFunc(fixture.Unpack(t, fixture.Read(t, file)), has) {
				t.Errorf("%s has no %s", filepath.Base(file), want)
			}
		}
	}
}
