package builds

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// Gradle runs builds with one home. Its user home has what was downloaded, and its daemons.
type Gradle struct {
	Home
	// UserHome is what GRADLE_USER_HOME is set to.
	UserHome string
	java     oracle.JDK
}

// NewGradle returns Gradle of a version. The user home has the given name below the user's cache directory: it is kept,
// for what is downloaded into it. At the end of the test its daemons are stopped, so tests that may run at the same
// time need names of their own.
func NewGradle(t testing.TB, version, userHome string) Gradle {
	t.Helper()
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	home := GradleHome(t, version)
	cache, err := oracle.CacheDir(filepath.Join("gradle", userHome+"-"+version))
	oracle.Require(t, err)
	// A daemon that a killed test leaves behind ends by itself.
	properties := "org.gradle.jvmargs=-Xmx768m\norg.gradle.daemon.idletimeout=120000\norg.gradle.workers.max=2\n"
	if err := os.WriteFile(filepath.Join(cache, "gradle.properties"), []byte(properties), 0o644); err != nil {
		t.Fatal(err)
	}
	g := Gradle{Home: home, UserHome: cache, java: jdk}
	t.Cleanup(func() {
		if home.boot == "" {
			// The context of the test has ended.
			_, _ = g.run(context.Background(), t.TempDir(), "--stop")
		}
	})
	return g
}

// Result is what one build printed.
type Result struct {
	// Output is everything that was printed.
	Output string
	// Tasks are the tasks of the build by their paths, with what Gradle says about them: "" if the task was executed,
	// "UP-TO-DATE", "FROM-CACHE", "NO-SOURCE", "SKIPPED", "FAILED".
	Tasks map[string]string
	// Failed is whether the build failed.
	Failed bool
}

var taskLine = regexp.MustCompile(`(?m)^> Task (:\S+)(?: ([A-Z-]+))?\r?$`)

// Run runs a build in a directory and returns its result. A build that fails is no error; that Gradle could not be
// started is.
func (g Gradle) Run(t testing.TB, dir string, args ...string) Result {
	t.Helper()
	r, err := g.run(t.Context(), dir, args...)
	if err != nil {
		t.Fatalf("gradle %s in %s: %v\n%s", strings.Join(args, " "), dir, err, r.Output)
	}
	return r
}

// Build is Run for a build that must not fail.
func (g Gradle) Build(t testing.TB, dir string, args ...string) Result {
	t.Helper()
	r := g.Run(t, dir, args...)
	if r.Failed {
		t.Fatalf("gradle %s %s failed:\n%s", g.Version, strings.Join(args, " "), r.Output)
	}
	return r
}

// Command returns the command that runs a build in a directory.
func (g Gradle) Command(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	var java []string
	for _, name := range []string{"java.base/java.util", "java.base/java.lang", "java.base/java.lang.invoke",
		"java.base/java.nio.charset", "java.base/java.net", "java.base/java.util.concurrent.atomic",
		"java.prefs/java.util.prefs"} {
		java = append(java, "--add-opens="+name+"=ALL-UNNAMED")
	}
	if g.boot == "" {
		java = append(java, "-Xmx256m", "-Dorg.gradle.appname=gradle",
			"-Dorg.gradle.internal.instrumentation.agent=false",
			"-cp", filepath.Join(g.Dir, "lib", "gradle-launcher-"+g.Version+".jar"), "org.gradle.launcher.GradleMain",
			"--console=plain")
	} else {
		jars, err := bootPath(filepath.Join(g.Dir, "lib"))
		if err != nil {
			return nil, err
		}
		java = append(java, "--add-exports=jdk.compiler/com.sun.tools.javac.api=ALL-UNNAMED",
			"--add-exports=jdk.compiler/com.sun.tools.javac.util=ALL-UNNAMED", "-Xmx768m",
			"-cp", jars+string(filepath.ListSeparator)+g.boot, "gradleboot.GradleBoot")
	}
	cmd := exec.CommandContext(ctx, g.java.Tool("java"), append(java, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GRADLE_USER_HOME="+g.UserHome, "JAVA_HOME="+g.java.Home, "GRADLE_OPTS=",
		"LC_ALL=C.UTF-8")
	return cmd, nil
}

func (g Gradle) run(ctx context.Context, dir string, args ...string) (Result, error) {
	cmd, err := g.Command(ctx, dir, args...)
	if err != nil {
		return Result{}, err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	r := Result{Output: out.String(), Tasks: map[string]string{}}
	for _, m := range taskLine.FindAllStringSubmatch(r.Output, -1) {
		r.Tasks[m[1]] = m[2]
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil && strings.Contains(r.Output, "BUILD FAILED") {
		r.Failed = true
		return r, nil
	}
	return r, err
}

// bootPath returns the class path of a build in one process.
func bootPath(lib string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(lib, "*.jar"))
	if err != nil {
		return "", err
	}
	needed := regexp.MustCompile(
		`^(gradle-core|gradle-launcher|groovy|kotlin|ant|javax.inject|javaparser|annotations|gradle-runtime-api-info)`)
	var path []string
	for _, jar := range jars {
		if needed.MatchString(filepath.Base(jar)) {
			path = append(path, jar)
		}
	}
	return strings.Join(path, string(filepath.ListSeparator)), nil
}

// compileBoot compiles the program that starts a build.
func (b *building) compileBoot(to string) {
	path, err := bootPath(b.lib)
	oracle.Require(b.t, err)
	source := fixture.Write(b.t, filepath.Join(to, "GradleBoot.java"), bootSource)
	fixture.Run(b.t, exec.Command(oracle.NeedJDK(b.t, 17).Tool("javac"), "-nowarn", "-cp", path, "-d", to, source))
}
