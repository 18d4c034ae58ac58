package corpus

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
)

var errNoSuchJDK = errors.New("this JDK is not installed")

// moduleJar writes a jar of a module of an installed JDK, so that it can be used like any other jar. The module comes
// from the JDK's jmods, or from its runtime image if a distribution leaves those out. The image's classes are the same
// except for those that jlink's plugins generated.
func moduleJar(ctx context.Context, dir string, j oracle.JDK, module string) (string, error) {
	out, err := exec.CommandContext(ctx, j.Tool("java"), "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("java -version: %w", err)
	}
	final := filepath.Join(dir, "jdk-"+property(string(out), "java.runtime.version")+"-"+module+".jar")
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	tmp, err := os.MkdirTemp(dir, "jdk-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	root := filepath.Join(tmp, "classes")
	jmod := filepath.Join(j.Home, "jmods", module+".jmod")
	cmd := exec.CommandContext(ctx, j.Tool("jmod"), "extract", "--dir", tmp, jmod)
	if _, err := os.Stat(jmod); err != nil {
		root = filepath.Join(tmp, module)
		cmd = exec.CommandContext(ctx, j.Tool("jimage"), "extract", "--dir", tmp,
			"--include", "regex:/"+module+"/.*", filepath.Join(j.Home, "lib", "modules"))
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, text)
	}
	made := filepath.Join(tmp, "module.jar")
	if err := zipDir(made, root); err != nil {
		return "", err
	}
	return final, os.Rename(made, final)
}

func property(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && key == name {
			return value
		}
	}
	return "unknown"
}

// zipDir stores the files below root in lexical order and without times, so that the same JDK always results in the
// same jar.
func zipDir(to, root string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(rel), Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
