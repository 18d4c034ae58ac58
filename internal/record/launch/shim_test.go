package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/record/launch"
)

// TestShims starts a java as scripts do: by PATH, by JAVA_HOME, and by a variable that names the program, in
// directories with blanks and quotation marks.
//
// Invariant: A java that a start script runs for its version prints what it prints without record.
func TestShims(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: there are no shims on Windows")
	}
	home := filepath.Join(t.TempDir(), "it's a $home")
	real := filepath.Join(home, "bin", "java")
	fixture.Write(t, real, "#!/bin/sh\necho \"[${JAVA_TOOL_OPTIONS-unset}] $*\"\n")
	fixture.Write(t, filepath.Join(home, "lib", "modules"), "no classes")
	if err := os.Chmod(real, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(real)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env, err := launch.Shims(t.TempDir(), append(os.Environ(), "JAVA_HOME="+home, "JAVACMD="+real, "JAVA_X=no home",
		"JDK_PWD="+filepath.Dir(home)), []string{"-Da=b c", "-Dx"})
	if err != nil {
		t.Fatal(err)
	}
	const taken = `["-Da=b c" -Dx]`
	for script, want := range map[string]string{
		`java -version`: "[unset] -version",
		`"$JAVA_HOME/bin/java" -cp 'a b' -Xmx1g -version 2>&1 | head -1`:      "[unset] -cp a b -Xmx1g -version",
		`"$JAVACMD" -XshowSettings:all '-?' -jar x`:                           "[unset] -XshowSettings:all -? -jar x",
		`java -jar app.jar -version`:                                          taken + " -jar app.jar -version",
		`java -cp -version Main "two  words" ''`:                              taken + " -cp -version Main two  words ",
		`java -m a/b --version`:                                               taken + " -m a/b --version",
		`unset JAVA_TOOL_OPTIONS; java @args`:                                 "[ " + taken[1:] + " @args",
		`unset JAVA_TOOL_OPTIONS; java -help`:                                 "[unset] -help",
		`JAVA_TOOL_OPTIONS="-Dmine $JAVA_TOOL_OPTIONS" java X`:                "[-Dmine " + taken[1:] + " X",
		`JAVA_TOOL_OPTIONS="-Dmine $JAVA_TOOL_OPTIONS" java -version`:         "[-Dmine] -version",
		`"$(dirname "$(dirname "$(command -v java)")")/bin/java" -version`:    "[unset] -version",
		`cat "$(dirname "$(dirname "$(command -v java)")")/lib/modules"`:      "no classes",
		`cd "$JAVA_HOME/lib" && cat modules; echo; echo "$JAVA_X" "$JDK_PWD"`: "no classes\nno home " + filepath.Dir(home),
		`'` + strings.ReplaceAll(real, "'", `'\''`) + `' -version`:            taken + " -version",
	} {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSuffix(string(out), "\n"); err != nil || got != want {
			t.Errorf("%s\nprints %s, %v\nwant   %s", script, got, err, want)
		}
	}
}

// TestArchives leaves out what names archives of loaded classes, where the options of java stand in the command itself.
func TestArchives(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fixture.Write(t, filepath.Join(dir, "args"), "-XX:AOTCache=a.aot -cp x")
	for command, want := range map[string]string{
		"java -Xshare:on -XX:SharedArchiveFile=a.jsa -jar a.jar -Xshare:on": "java -jar a.jar -Xshare:on",
		"java -cp -Xshare:on Main":                  "java -cp -Xshare:on Main",
		"java @args -XX:AOTMode=on Main":            "java @args Main left: -XX:AOTCache=a.aot",
		"java -Xshare:auto -XX:+UseSerialGC -m a/b": "java -Xshare:auto -XX:+UseSerialGC -m a/b",
	} {
		c, err := launch.Parse(strings.Split(command, " "), environment())
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		args, left := c.With()
		if len(left) > 0 {
			args = append(append(args, "left:"), left...)
		}
		if got := strings.Join(args, " "); got != want {
			t.Errorf("%s becomes %s, want %s", command, got, want)
		}
	}
	_, err := launch.Parse([]string{"java", "-Xshare:dump"}, environment())
	if err == nil || !strings.Contains(err.Error(), "java -Xshare:dump runs no program") {
		t.Error(err)
	}
}
