package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// homeSetting is the line with the home directory in what java -XshowSettings:properties prints.
var homeSetting = glob.Regexp(`(?m)^\s*java\.home = (.*?)\r?$`)

// Home returns the home directory of the JDK or JRE that a java command belongs to. It follows links, and asks the
// program itself if that does not lead to a JDK, as with the starters that version managers install.
func Home(java string) (string, error) {
	found, err := exec.LookPath(java)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("cannot find the java program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(found); err == nil {
		if home := filepath.Dir(filepath.Dir(real)); IsHome(home) {
			return home, nil
		}
	}
	out, err := exec.Command(java, "-XshowSettings:properties", "-version").CombinedOutput()
	m := homeSetting().FindSubmatch(out)
	if m == nil {
		if err == nil {
			err = errors.New("it does not print its home directory")
		}
		return "", fmt.Errorf("%s -XshowSettings:properties -version: %w", java, err)
	}
	return strings.TrimSpace(string(m[1])), nil
}

// IsHome reports whether the directory has the classes of a JDK or JRE.
func IsHome(dir string) bool {
	for _, name := range []string{"lib/modules", "lib/rt.jar", "jre/lib/rt.jar"} {
		if isFile(filepath.Join(dir, filepath.FromSlash(name))) {
			return true
		}
	}
	return false
}

// TakesAgents reports whether a JDK or JRE can run Java agents: whether it has the module java.instrument.
func TakesAgents(home string) bool {
	found := false
	for _, lib := range []string{"lib", "bin", "jre/lib", "jre/bin"} {
		dir := filepath.Join(home, filepath.FromSlash(lib))
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			name, _, _ := strings.Cut(e.Name(), ".")
			found = found || name == "libinstrument" || name == "instrument"
			if e.IsDir() && strings.Count(strings.TrimPrefix(path, dir), string(filepath.Separator)) > 1 {
				return filepath.SkipDir
			}
			return nil
		})
	}
	return found
}
