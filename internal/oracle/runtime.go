package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// RuntimeJars are the paths of the jars of runtime-java: that for a JVM, which has all of Core, and those of an Android
// app: Core, Android, Report, Matrix (the drop-in), and NoOp.
type RuntimeJars struct{ JVM, Core, Android, Report, Matrix, NoOp string }

// App returns the jars of an Android app that records and sends reports.
func (r RuntimeJars) App() []string { return []string{r.Core, r.Android, r.Report} }

// modules returns the path of each jar by the directory of its module.
func (r *RuntimeJars) modules() map[string]*string {
	return map[string]*string{"jvm": &r.JVM, "core": &r.Core, "android": &r.Android, "report": &r.Report,
		"matrix": &r.Matrix, "noop": &r.NoOp}
}

// BuildRuntime returns the jars of runtime-java. It builds them with the mvn on PATH, unless the cache has them for the
// same sources.
func BuildRuntime(ctx context.Context) (RuntimeJars, error) {
	cache, err := CacheDir("oracle")
	if err != nil {
		return RuntimeJars{}, err
	}
	root, err := Root()
	if err != nil {
		return RuntimeJars{}, err
	}
	sum, err := hashRuntime(filepath.Join(root, "runtime-java"))
	if err != nil {
		return RuntimeJars{}, err
	}
	final := filepath.Join(cache, "runtime-"+sum)
	var jars RuntimeJars
	for module, path := range jars.modules() {
		name := "tracegen-runtime-" + module + ".jar"
		if module == "jvm" {
			name = "tracegen-runtime.jar"
		}
		*path = filepath.Join(final, name)
	}
	if _, err := os.Stat(final); err == nil {
		return jars, nil
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return jars, err
	}
	defer os.RemoveAll(tmp)
	if err := MavenRuntime(ctx, tmp, "-DskipTests", "package"); err != nil {
		return jars, err
	}
	out := filepath.Join(tmp, "dist")
	if err := os.Mkdir(out, 0o755); err != nil {
		return jars, err
	}
	for module, jar := range jars.modules() {
		built, err := filepath.Glob(filepath.Join(tmp, "runtime-java", module, "target", "tracegen-runtime*.jar"))
		if err != nil || len(built) != 1 {
			return jars, fmt.Errorf("module %s of the runtime made %d jars, want 1", module, len(built))
		}
		if err := os.Rename(built[0], filepath.Join(out, filepath.Base(*jar))); err != nil {
			return jars, err
		}
	}
	return jars, Publish(out, final)
}

// MavenRuntime copies runtime-java, and the files that its tests read, below dir, and runs mvn there. The error has the
// last lines that mvn printed.
func MavenRuntime(ctx context.Context, dir string, args ...string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("no mvn on PATH to build the runtime: %w", ErrMissing)
	}
	if err := copyRuntime(dir); err != nil {
		return err
	}
	return run(ctx, filepath.Join(dir, "runtime-java"), mvn, append([]string{"-B", "-q"}, args...)...)
}

// MakeRuntime copies runtime-java below dir and runs its script build there, on the JDK in home. The script writes the
// files of package runtimejars into out.
func MakeRuntime(ctx context.Context, dir, out, home string) error {
	for _, program := range []string{"bash", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no %s on PATH to build the runtime: %w", program, ErrMissing)
		}
	}
	if err := copyRuntime(dir); err != nil {
		return err
	}
	return run(ctx, filepath.Join(dir, "runtime-java"), "env", "JAVA_HOME="+home, "bash", "build", out)
}

// copyRuntime copies runtime-java, and the files that its tests read, below dir.
func copyRuntime(dir string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	vectors := filepath.Join("trace", "testdata")
	if err := os.CopyFS(filepath.Join(dir, vectors), os.DirFS(filepath.Join(root, vectors))); err != nil {
		return err
	}
	return eachRuntimeFile(filepath.Join(root, "runtime-java"), func(name string, data []byte) error {
		to := filepath.Join(dir, "runtime-java", name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

func hashRuntime(dir string) (string, error) {
	h := sha256.New()
	err := eachRuntimeFile(dir, func(name string, data []byte) error {
		fmt.Fprintln(h, filepath.ToSlash(name), len(data))
		h.Write(data)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}

// eachRuntimeFile visits the sources of runtime-java in order.
func eachRuntimeFile(dir string, visit func(name string, data []byte) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if base := e.Name(); base == "target" || base == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

// Root returns the root of the repository: the directory of go.mod above the working directory, which for a test is the
// directory of its package.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("there is no go.mod above the working directory")
		}
		dir = up
	}
}
