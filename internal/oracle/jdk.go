package oracle

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// JDK is an installed Java development kit.
type JDK struct {
	// Home is the directory that holds bin.
	Home string
	// Feature is the release: 8, 17, 25.
	Feature int
}

// MaxMajor returns the newest class file major version that this JDK's JVM reads.
func (j JDK) MaxMajor() int { return j.Feature + 44 }

// Tool returns the path of one of the JDK's programs: java, javac, javap, jmod, jimage.
func (j JDK) Tool(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(j.Home, "bin", name)
}

// FindJDKs returns the installed JDKs, oldest first, at most one of a release: those that JAVA_HOME and the java and
// javac on PATH belong to, and those that are installed beside them. If there is none, the error wraps [ErrMissing].
func FindJDKs() ([]JDK, error) {
	byFeature := map[int]JDK{}
	for _, home := range candidateHomes() {
		feature, ok := featureOf(home)
		if _, known := byFeature[feature]; ok && !known {
			byFeature[feature] = JDK{Home: home, Feature: feature}
		}
	}
	if len(byFeature) == 0 {
		return nil, fmt.Errorf("no JDK is installed: set JAVA_HOME or add java to PATH: %w", ErrMissing)
	}
	jdks := make([]JDK, 0, len(byFeature))
	for _, j := range byFeature {
		jdks = append(jdks, j)
	}
	slices.SortFunc(jdks, func(a, b JDK) int { return a.Feature - b.Feature })
	return jdks, nil
}

// requiredJDK is the release that every machine can install. A newer one is optional, also in CI, as not every registry
// of packages has one.
const requiredJDK = 17

// FindJDK returns the oldest JDK whose release is atLeast or newer. If there is none, the error wraps [ErrMissing].
func FindJDK(atLeast int) (JDK, error) {
	jdks, err := FindJDKs()
	if err != nil {
		return JDK{}, err
	}
	for _, j := range jdks {
		if j.Feature >= atLeast {
			return j, nil
		}
	}
	missing := ErrMissing
	if atLeast > requiredJDK {
		missing = ErrOptional
	}
	return JDK{}, fmt.Errorf("no JDK %d or newer is installed, the newest is %d: %w",
		atLeast, jdks[len(jdks)-1].Feature, missing)
}

func candidateHomes() []string {
	var found []string
	add := func(home string) {
		real, err := filepath.EvalSymlinks(home)
		if err == nil && !slices.Contains(found, real) {
			found = append(found, real)
		}
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		add(home)
	}
	for _, name := range []string{"java", "javac"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err == nil {
			add(filepath.Dir(filepath.Dir(path)))
		}
	}
	for _, home := range slices.Clone(found) {
		siblings, err := os.ReadDir(filepath.Dir(home))
		if err != nil {
			continue
		}
		for _, s := range siblings {
			add(filepath.Join(filepath.Dir(home), s.Name()))
		}
	}
	return found
}

var (
	releaseVersion = regexp.MustCompile(`(?m)^JAVA_VERSION="(?:1\.)?(\d+)`)
	specVersion    = regexp.MustCompile(`java\.specification\.version = (?:1\.)?(\d+)`)
)

// featureOf returns the release of a JDK, and false if the directory is none. It reads the file that JDKs have, or, if
// a distribution leaves it out, runs the java program, which takes much longer.
func featureOf(home string) (int, bool) {
	j := JDK{Home: home}
	for _, tool := range []string{"java", "javac"} {
		if _, err := os.Stat(j.Tool(tool)); err != nil {
			return 0, false
		}
	}
	text, _ := os.ReadFile(filepath.Join(home, "release"))
	m := releaseVersion.FindSubmatch(text)
	if m == nil {
		text, _ = exec.Command(j.Tool("java"), "-XshowSettings:properties", "-version").CombinedOutput()
		m = specVersion.FindSubmatch(text)
	}
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(m[1]))
	return n, err == nil
}

// java runs a main class. Its error holds the end of what the program printed.
func (j JDK) java(ctx context.Context, args ...string) error {
	return run(ctx, "", j.Tool("java"), args...)
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	const shown = 4000
	text := strings.TrimSpace(string(out))
	if len(text) > shown {
		text = "..." + text[len(text)-shown:]
	}
	return fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, text)
}
