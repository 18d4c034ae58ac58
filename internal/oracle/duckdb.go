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

// duckDB is DuckDB, a database engine that reads Parquet by code which we did not write.
const duckDB = "duckdb==1.4.1"

// duckQuery prints the rows of a query as JSON. The file is its table t.
const duckQuery = `import sys, json, duckdb
c = duckdb.connect()
c.execute("create view t as select * from read_parquet('" + sys.argv[1].replace("'", "''") + "')")
print(json.dumps([[str(v) for v in row] for row in c.execute(sys.argv[2]).fetchall()]))`

// QueryParquet asks DuckDB, which is installed by pip where it is missing, a query of a Parquet file, the table t.
// The answer is rows of Python's text of their values. The error wraps [ErrMissing] if there is no DuckDB to be had.
func QueryParquet(ctx context.Context, file, sql string) ([][]string, error) {
	python, err := duckPython(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-I", "-c", duckQuery, file, sql)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("duckdb: %w\n%s", err, stderr.Bytes())
	}
	var rows [][]string
	return rows, json.Unmarshal(out, &rows)
}

// duckPython gives a Python that has DuckDB.
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
	// An environment knows its own place, so it is made where it will be; the last file says that it is whole.
	base, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	if err := run(ctx, dir, base, "-m", "venv", "--clear", home); err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	if err := run(ctx, dir, python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--no-deps", duckDB); err != nil {
		return "", fmt.Errorf("DuckDB: %w: %w", err, ErrMissing)
	}
	return python, os.WriteFile(done, nil, 0o644)
}
