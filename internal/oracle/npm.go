package oracle

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// SARIFSchema returns the JSON schema of SARIF 2.1.0 as it was published ("rtm.5", the last), from a package of
// Microsoft's that contains it. The npm on PATH fetches it once; the error wraps [ErrMissing] if it cannot be fetched.
func SARIFSchema(ctx context.Context) ([]byte, error) {
	const (
		name   = "@microsoft/jest-sarif@1.0.0-beta.0"
		file   = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
		sha256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
	)
	dir, err := CacheDir("npm")
	if err != nil {
		return nil, err
	}
	cached := filepath.Join(dir, "sarif-2.1.0-rtm.5.json")
	if data, err := os.ReadFile(cached); err == nil && sumOf(data) == sha256 {
		return data, nil
	}
	data, err := fetchNPM(ctx, dir, name, file)
	if err != nil {
		return nil, err
	}
	if got := sumOf(data); got != sha256 {
		return nil, fmt.Errorf("%s in %s has the SHA-256 %s, want %s", file, name, got, sha256)
	}
	return data, os.WriteFile(cached, data, 0o644)
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// fetchNPM returns one file of a package, which is named as name@version.
func fetchNPM(ctx context.Context, dir, name, file string) ([]byte, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, fmt.Errorf("no npm on PATH to fetch %s: %w", name, ErrMissing)
	}
	tmp, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := run(ctx, tmp, npm, "pack", "--silent", name); err != nil {
		return nil, fmt.Errorf("fetch: %w: %w", err, ErrMissing)
	}
	packed, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return nil, fmt.Errorf("fetch %s: npm pack left %d files", name, len(packed))
	}
	if err := run(ctx, tmp, "tar", "-xzf", packed[0], file); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	return os.ReadFile(filepath.Join(tmp, filepath.FromSlash(file)))
}
