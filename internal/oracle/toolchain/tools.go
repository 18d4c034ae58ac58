package toolchain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
)

// Tools is one version of D8 and R8.
type Tools struct {
	// Version is that of com.android.tools:r8.
	Version string
	sum     string
	java    string
	jar     string
}

// Versions are the versions that are run, newest first: those of the Android Gradle plugin 9, 8.13 and 8.5.
var Versions = []Tools{
	{Version: "9.5.28", sum: "38a9ffaaebbd17d1514e3ecbff5a85b989bb13c551b9e224c7409514eea84ff5"},
	{Version: "8.13.25", sum: "0d4f2f68c4fcbc9434eff122f41feb6fb1d98efd2faa530cec1abacab1cea03d"},
	{Version: "8.5.35", sum: "4733945987ee0a840fafc34080b135259e01678412e07212b23f706334290294"},
}

// Fetch returns the tools with their jar, which Maven fetches if the cache lacks it. The error wraps
// [oracle.ErrMissing] if Maven, the artifact or a JDK is missing.
func (t Tools) Fetch(ctx context.Context) (Tools, error) {
	j, err := oracle.FindJDK(17)
	if err != nil {
		return t, err
	}
	t.java = j.Tool("java")
	t.jar, err = oracle.FetchSum(ctx, "com.android.tools:r8:"+t.Version, t.sum)
	return t, err
}

// Jar returns the path of the jar that [Tools.Fetch] fetched.
func (t Tools) Jar() string { return t.jar }

// Dexing is a run of D8.
type Dexing struct {
	// MinAPI is the oldest version of Android of the dex files.
	MinAPI int
	// Library has the classes of Android, ClassPath those that are not packaged in this run.
	Library   string
	ClassPath []string
	// Output is the directory of the dex files, or a jar of them.
	Output string
}

// D8 converts jars to the dex files of a release build. It returns what D8 printed.
func (t Tools) D8(ctx context.Context, d Dexing, jars ...string) (string, error) {
	if err := makeOutput(d.Output); err != nil {
		return "", err
	}
	args := []string{"--release", "--min-api", strconv.Itoa(d.MinAPI), "--lib", d.Library, "--output", d.Output}
	for _, file := range d.ClassPath {
		args = append(args, "--classpath", file)
	}
	return t.run(ctx, "com.android.tools.r8.D8", append(args, jars...)...)
}

// Shrinking is a run of R8 in full mode, as a release build has it by default.
type Shrinking struct {
	// Library has the classes of Android, ClassPath others that are not packaged. Rules are files of rules; R8 also
	// takes the rules that the jars have in META-INF/proguard.
	Library   string
	ClassPath []string
	Rules     []string
	// MinAPI is the oldest version of Android of the dex files; 0 writes class files.
	MinAPI int
	// Output is a jar, or a directory for dex files, Mapping the file of the new names.
	Output, Mapping string
}

// R8 shrinks jars. It returns what R8 printed.
func (t Tools) R8(ctx context.Context, s Shrinking, jars ...string) (string, error) {
	args := []string{"--release", "--lib", s.Library, "--pg-map-output", s.Mapping, "--output", s.Output}
	if s.MinAPI == 0 {
		args = append(args, "--classfile")
	} else {
		args = append(args, "--min-api", strconv.Itoa(s.MinAPI))
		if err := makeOutput(s.Output); err != nil {
			return "", err
		}
	}
	for _, file := range s.ClassPath {
		args = append(args, "--classpath", file)
	}
	for _, file := range s.Rules {
		args = append(args, "--pg-conf", file)
	}
	return t.run(ctx, "com.android.tools.r8.R8", append(args, jars...)...)
}

// makeOutput makes the directory of an output, unless the output is a jar.
func makeOutput(output string) error {
	if filepath.Ext(output) == ".jar" {
		return nil
	}
	return os.MkdirAll(output, 0o755)
}

// failedLines is how many lines of a failed run are in its error: the first ones name the classes.
const failedLines = 12

func (t Tools) run(ctx context.Context, class string, args ...string) (string, error) {
	args = append([]string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", t.jar, class}, args...)
	out, err := exec.CommandContext(ctx, t.java, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		lines := strings.Split(text, "\n")
		err = fmt.Errorf("%s %s: %w\n%s", class, t.Version, err, strings.Join(lines[:min(failedLines, len(lines))], "\n"))
	}
	return text, err
}

// optionalRule is what R8 prints of a rule for Compose in a program that has none, also of rules with -if.
var optionalRule = regexp.MustCompile("Info in .*\nProguard configuration rule does not match anything: " +
	"`-keep\\S* class androidx\\.compose\\.runtime\\.[^`]*`")

// NotOfCompose returns what R8 prints but for the information that rules of the runtime match nothing in a program
// without Compose, without blanks around it.
func NotOfCompose(text string) string {
	return strings.TrimSpace(optionalRule.ReplaceAllString(text, ""))
}
