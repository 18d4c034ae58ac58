package oracle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tracegen/tracegen/internal/runtimejars"
)

// RuntimeJars are the paths of the jars of runtime-java: that for a JVM, which has all of Core, and those of an Android
// app: Core, Android, Report, Matrix (the drop-in), and NoOp.
type RuntimeJars struct{ JVM, Core, Android, Report, Matrix, NoOp string }

// App returns the jars of an Android app that records and sends reports.
func (r RuntimeJars) App() []string { return []string{r.Core, r.Android, r.Report} }

// Runtime writes the jars of the runtime that the program embeds into the cache, unless they are there. TestRuntime
// compares them with what their sources make.
func Runtime() (RuntimeJars, error) {
	cache, err := CacheDir("oracle")
	if err != nil {
		return RuntimeJars{}, err
	}
	h := sha256.New()
	for _, f := range runtimejars.All() {
		h.Write(f.Data)
	}
	final := filepath.Join(cache, "runtime-"+hex.EncodeToString(h.Sum(nil)[:8]))
	at := func(name string) string { return filepath.Join(final, name) }
	const android = "tracegen-runtime-android.jar"
	jars := RuntimeJars{JVM: at(runtimejars.JVMName), Core: at(runtimejars.CoreName), Android: at(android),
		Report: at(runtimejars.ReportName), Matrix: at(runtimejars.MatrixName), NoOp: at(runtimejars.NoOpName)}
	if _, err := os.Stat(final); err == nil {
		return jars, nil
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return jars, err
	}
	defer os.RemoveAll(tmp)
	for _, f := range runtimejars.All() {
		name, data := f.Name, f.Data
		if name == runtimejars.AndroidName {
			name = android
			r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				data, err = fs.ReadFile(r, "classes.jar")
			}
			if err != nil {
				return jars, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o644); err != nil {
			return jars, err
		}
	}
	return jars, Publish(tmp, final)
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

// MakeRuntime copies runtime-java below dir and runs its script build there, on the JDK in home. The script runs the
// runtime's own tests, and writes the files of package runtimejars into out.
func MakeRuntime(ctx context.Context, dir, out, home string) error {
	for _, program := range []string{"bash", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no %s on PATH to build the runtime: %w", program, ErrMissing)
		}
	}
	if err := copyRuntime(dir); err != nil {
		return err
	}
	return run(ctx, filepath.Join(dir, "runtime-java"), "env", "JAVA_HOME="+home, "bash", "build", out,
		"-DskipTests=false")
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
	sources := os.DirFS(filepath.Join(root, "runtime-java"))
	return fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		to := filepath.Join(dir, "runtime-java", name)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "target" || e.Name() == "dist"):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
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
