package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// duckDB is the Python package of DuckDB, a database engine with its own implementation of Parquet.
const duckDB = "duckdb==1.4.1"

// duckScript runs the first statements, and prints the rows of a query as JSON. DuckDB writes the values as text:
// Python lacks a module for times with a zone.
const duckScript = `import sys, json, duckdb
c = duckdb.connect()
c.execute(sys.argv[1])
sql = "select cast(columns(*) as varchar) from (" + sys.argv[2].strip().rstrip(";") + ")"
print(json.dumps([[str(v) for v in row] for row in c.execute(sql).fetchall()]))`

// QueryDuckDB runs statements and then a query with DuckDB in a directory, and installs DuckDB by pip if it is missing.
// It returns rows of the values as DuckDB writes them, "None" for null. The error wraps [ErrMissing] if DuckDB cannot
// be installed.
func QueryDuckDB(ctx context.Context, dir, statements, sql string) ([][]string, error) {
	python, err := duckPython(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-I", "-c", duckScript, statements, sql)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("duckdb: %w\n%s", err, stderr.Bytes())
	}
	var rows [][]string
	return rows, json.Unmarshal(out, &rows)
}

// duckPython returns the path of a Python that has DuckDB.
func duckPython(ctx context.Context) (string, error) {
	dir, err := CacheDir("python")
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, duckDB)
	python := filepath.Join(home, "bin", "python")
	done := filepath.Join(home, "installed")
	if _, err := os.Stat(done); err == nil {
		return python, nil
	}
	// A Python environment contains its own path, so it is made at its final place. The file that is written last marks
	// it as complete.
	base, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	if err := run(ctx, dir, base, "-m", "venv", "--clear", home); err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	if err := run(ctx, dir, python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--no-deps",
		duckDB); err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	return python, os.WriteFile(done, nil, 0o644)
}
