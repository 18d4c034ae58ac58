package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// binary is the executable of one platform.
type binary struct {
	platform, name string // GOOS/GOARCH, and the name of the file
	data           []byte
	info           *buildinfo.BuildInfo
}

// buildFlags returns the flags of go build. They are those of release/maven-repository and .goreleaser.yaml, so that
// all publish the same binaries.
func buildFlags() []string { return []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w"} }

// buildEnvironment returns the environment of go build that decides about the result, but for GOOS and GOARCH.
func buildEnvironment() map[string]string {
	return map[string]string{"CGO_ENABLED": "0", "GOFLAGS": "", "GOAMD64": "v1", "GOARM64": "v8.0", "GOEXPERIMENT": "",
		"GOWORK": "off"}
}

// command returns a command of go in the directory of the sources, for a platform.
func (r *release) command(platform string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range buildEnvironment() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	system, processor, _ := strings.Cut(platform, "/")
	cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH="+processor)
	return cmd
}

// build builds the binary of a platform below the directory.
func (r *release) build(platform, dir string) (*binary, error) {
	b := &binary{platform: platform, name: "tracegen"}
	if strings.HasPrefix(platform, "windows/") {
		b.name += ".exe"
	}
	path := filepath.Join(dir, filepath.FromSlash(platform), b.name)
	if err := r.command(platform, slices.Concat([]string{"build"}, buildFlags(), []string{"-o", path,
		"./cmd/tracegen"})...).Run(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w", platform, err)
	}
	var err error
	if b.data, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if b.info, err = buildinfo.Read(bytes.NewReader(b.data)); err != nil {
		return nil, fmt.Errorf("%s: %w", platform, err)
	}
	return b, nil
}
