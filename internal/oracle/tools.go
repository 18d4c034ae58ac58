package oracle

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed java
var sources embed.FS

// asmVersion is the first release of ASM that reads major version 69.
const asmVersion = "9.9"

// A tool is a directory of embedded Java sources and how to compile it.
type tool struct {
	// name is the directory below java.
	name string
	// release is the Java release to compile for.
	release int
	// path is the class path to compile with.
	path []string
	// module is the directory of a module-info.java to add, or empty.
	module string
}

// build returns the directory of the tool's classes. It compiles the tool unless the cache has it.
func (t tool) build(ctx context.Context, j JDK) (string, error) {
	cache, err := CacheDir("oracle")
	if err != nil {
		return "", err
	}
	files, sum, err := t.hash(j)
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, t.name+"-"+sum)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", fmt.Errorf("%s: %w", t.name, err)
	}
	defer os.RemoveAll(tmp)
	var args []string
	for _, f := range files {
		data, err := sources.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
		to := filepath.Join(tmp, "src", filepath.FromSlash(strings.TrimPrefix(f, "java/")))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
		args = append(args, to)
	}
	out := filepath.Join(tmp, "out")
	if err := t.compile(ctx, j, out, args); err != nil {
		return "", err
	}
	return final, Publish(out, final)
}

// need is [tool.build] for a test, which cannot go on without it.
func (t tool) need(of testing.TB, j JDK) string {
	of.Helper()
	classes, err := t.build(of.Context(), j)
	Require(of, err)
	return classes
}

// compile runs javac, twice if there is a module declaration: releases before 9 have none, so that all sources are
// first compiled for 9, and then all but the declaration for the release of the tool.
func (t tool) compile(ctx context.Context, j JDK, out string, files []string) error {
	common := []string{"-Xlint:-options", "-encoding", "UTF-8", "-proc:none", "-d", out}
	if len(t.path) > 0 {
		common = append(common, "-cp", strings.Join(t.path, string(os.PathListSeparator)))
	}
	var classes []string
	for _, f := range files {
		if filepath.Base(f) != "module-info.java" {
			classes = append(classes, f)
		}
	}
	if t.module != "" {
		args := append([]string{"--release", "9", "--add-reads", t.module + "=ALL-UNNAMED"}, common...)
		if err := run(ctx, "", j.Tool("javac"), append(args, files...)...); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	args := append([]string{"--release", strconv.Itoa(t.release)}, common...)
	if err := run(ctx, "", j.Tool("javac"), append(args, classes...)...); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// hash returns the sources, and a hash of everything that the result of compiling depends on.
func (t tool) hash(j JDK) (files []string, sum string, err error) {
	h := sha256.New()
	fmt.Fprintln(h, t.release, j.Feature, t.path, t.module)
	dirs := []string{t.name}
	if t.module != "" {
		dirs = append(dirs, t.name+"-module")
	}
	for _, d := range dirs {
		err := fs.WalkDir(sources, path.Join("java", d), func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := sources.ReadFile(p)
			files = append(files, p)
			fmt.Fprintln(h, p, len(data))
			h.Write(data)
			return err
		})
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return files, hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// asmJars returns the jars of ASM, and fetches them if the cache lacks them.
func asmJars(ctx context.Context) ([]string, error) {
	dir, err := CacheDir("maven")
	if err != nil {
		return nil, err
	}
	var artifacts []Artifact
	var jars []string
	for _, name := range []string{"asm", "asm-tree", "asm-analysis", "asm-util"} {
		a := Artifact{Group: "org.ow2.asm", Name: name, Version: asmVersion, Type: "jar"}
		artifacts = append(artifacts, a)
		jars = append(jars, filepath.Join(dir, a.File()))
	}
	return jars, FetchMaven(ctx, dir, artifacts)
}

func classPath(dirs ...string) string {
	return strings.Join(dirs, string(os.PathListSeparator))
}
