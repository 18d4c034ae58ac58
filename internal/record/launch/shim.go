package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// shim is the program java that a start script finds instead of the real one. A JVM reports the variable on standard
// error, and scripts that read the first line of java -version would take that for the version. So the shim hides the
// variable from a java that only prints something. One that runs a program gets it, also from a script that has removed
// it: the program may start JVMs by their full paths. The shim never searches for java, so that it cannot find itself.
const shim = `#!/bin/sh
# Made by tracegen record for the time of one run.
set_options=%[1]s
runs=1 skip=
for arg do
	if [ "$skip" ]; then skip=; continue; fi
	case $arg in
	%[2]s) runs=; break ;;
	-m|--module|--module=*) break ;;
	%[3]s) skip=1 ;;
	-*) ;;
	*) break ;;
	esac
done
if [ "$runs" ]; then
	case ${JAVA_TOOL_OPTIONS-} in
	*"$set_options"*) ;;
	*) JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS-} $set_options"; export JAVA_TOOL_OPTIONS ;;
	esac
elif [ "${JAVA_TOOL_OPTIONS-}" = "$set_options" ]; then
	unset JAVA_TOOL_OPTIONS
else
	JAVA_TOOL_OPTIONS=${JAVA_TOOL_OPTIONS%%" $set_options"}
fi
exec %[4]s "$@"
`

// Shims returns the environment for a start script, in which every JVM takes the options and none reports them when it
// only prints something, such as its version: PATH and the variables that name a Java home or a java program lead to
// shims in the directory dir. A java that a script names by a full path is the real one, and takes the options by
// JAVA_TOOL_OPTIONS alone. The error says why there are no shims; the environment is of use all the same.
func Shims(dir string, env, options []string) ([]string, error) {
	plain := WithToolOptions(env, options)
	if runtime.GOOS == "windows" {
		return plain, errors.New("a shim for java.exe cannot be a script")
	}
	s := shims{dir: dir, options: WithToolOptions(nil, options)[0][len("JAVA_TOOL_OPTIONS="):]}
	shimmed := slices.Clone(plain)
	for i, entry := range shimmed {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.Contains(name, "JAVA") && !strings.Contains(name, "JRE") && !strings.Contains(name, "JDK") {
			continue
		}
		home := value
		if IsJava(value) {
			home = filepath.Dir(filepath.Dir(value))
		}
		if !filepath.IsAbs(value) || !isFile(filepath.Join(home, "bin", "java")) {
			continue
		}
		made, err := s.home(home, filepath.Join(home, "bin", "java"))
		if err != nil {
			return plain, err
		}
		shimmed[i] = name + "=" + made + strings.TrimPrefix(value, home)
	}
	if java, err := exec.LookPath("java"); err == nil {
		home, err := Home(java)
		if err != nil {
			return plain, err
		}
		made, err := s.home(home, filepath.Join(home, "bin", "java"))
		if err != nil {
			return plain, err
		}
		shimmed = append(shimmed, "PATH="+filepath.Join(made, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	return shimmed, nil
}

// shims makes directories that look like Java homes.
type shims struct {
	dir, options string
	made         int
}

// home makes a directory with all that a Java home has, but for the shim of its java.
func (s *shims) home(real, java string) (string, error) {
	s.made++
	home := filepath.Join(s.dir, fmt.Sprint("java-", s.made))
	for _, sub := range []string{"", "bin"} {
		entries, err := os.ReadDir(filepath.Join(real, sub))
		if err != nil {
			return "", err
		}
		if err := os.Mkdir(filepath.Join(home, sub), 0o777); err != nil {
			return "", err
		}
		for _, e := range entries {
			name := filepath.Join(sub, e.Name())
			if name == "bin" || name == filepath.Join("bin", "java") {
				continue
			}
			if err := os.Symlink(filepath.Join(real, name), filepath.Join(home, name)); err != nil {
				return "", err
			}
		}
	}
	text := fmt.Sprintf(shim, ShellQuote(s.options), shellCase(idle), shellCase(valued), ShellQuote(java))
	file := filepath.Join(home, "bin", "java")
	if err := os.WriteFile(file, []byte(text), 0o777); err != nil {
		return "", err
	}
	// Fails where the system does not run programs of this directory.
	_, err := exec.LookPath(file)
	return home, err
}

// ShellQuote returns a word of a shell script that stands for the text.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shellCase returns a pattern of a case that any of the words matches.
func shellCase(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellQuote(w)
	}
	return strings.Join(quoted, "|")
}
