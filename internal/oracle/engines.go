package oracle

import (
	"bytes"
	"context"
	_ "embed" // the script
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An Engine runs SQL over Parquet files, with its own implementation of both.
type Engine struct {
	// Name is that of its file in docs/sql.
	Name string
	// packages are what pip installs for it.
	packages []string
}

// The engines. Each is a Python package; Spark also needs JDK 17.
var (
	DuckDB     = Engine{"duckdb", []string{"duckdb==2.0.1"}}
	ClickHouse = Engine{"clickhouse", []string{"chdb==4.4.0", "chdb-core==26.9.0"}}
	Spark      = Engine{"spark", []string{"pyspark==4.3.0", "py4j==0.10.9.9"}}
)

//go:embed engines/query.py
var engineScript string

// Questions are the files of docs/sql that each engine runs as they are.
var Questions = []string{"worst", "since", "devices", "scenes", "regressions", "user", "anr", "detectors"}

// Query is [Engine.Measure] without the times.
func (e Engine) Query(ctx context.Context, dir, statements string, queries ...string) ([][][]string, error) {
	rows, _, err := e.Measure(ctx, dir, statements, queries...)
	return rows, err
}

// Measure runs statements and then queries in a directory, and installs the engine if it is missing. It returns the
// rows of each query, with values as the engine writes them, "None" for null, and the seconds that each took. A
// statement ends with a semicolon at the end of its line. The error wraps [ErrMissing] if the engine cannot be
// installed.
func (e Engine) Measure(ctx context.Context, dir, statements string, queries ...string) (rows [][][]string,
	seconds []float64, err error) {
	python, err := e.install(ctx)
	if err != nil {
		return nil, nil, err
	}
	asked, err := json.Marshal(map[string]any{"statements": statements, "queries": queries})
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-I", "-c", engineScript, e.Name)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(asked)
	if e.Name == Spark.Name {
		j, err := FindJDK(17)
		if err != nil {
			return nil, nil, err
		}
		cmd.Env = append(os.Environ(), "JAVA_HOME="+j.Home, "SPARK_LOCAL_DIRS="+dir)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w\n%s", e.Name, err, stderr.Bytes())
	}
	return rows, seconds, json.Unmarshal(out, &[]any{&rows, &seconds})
}

// CompareRows returns how the rows of an engine differ from those of another one; empty if they do not. Numbers with a
// fraction may differ by their last digits, as sums of them depend on the order.
func CompareRows(want, got [][]string) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	same := func(a, b string) bool {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		_, errInt := strconv.ParseInt(a, 10, 64)
		return a == b || errInt != nil && errX == nil && errY == nil && math.Abs(x-y) <= 1e-9*math.Abs(x)+1e-15
	}
	for i := range want {
		if !slices.EqualFunc(want[i], got[i], same) {
			return fmt.Sprintf("row %d is\n%q, want\n%q", i, got[i], want[i])
		}
	}
	return ""
}

// install returns the path of a Python that has the engine.
func (e Engine) install(ctx context.Context) (string, error) {
	dir, err := CacheDir("python")
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, strings.Join(e.packages, "+"))
	python := filepath.Join(home, "bin", "python")
	done := filepath.Join(home, "installed")
	if _, err := os.Stat(done); err == nil {
		return python, nil
	}
	// A Python environment contains its own path, so it is made at its final place. The file that is written last marks
	// it as complete.
	base, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", e.Name, err, ErrMissing)
	}
	if err := run(ctx, dir, base, "-m", "venv", "--clear", home); err != nil {
		return "", fmt.Errorf("%s: %w: %w", e.Name, err, ErrMissing)
	}
	// Spark is there as source alone, which pip builds with what it installed before.
	args := append([]string{"-m", "pip", "install", "--quiet", "--no-deps"}, e.packages...)
	if err := run(ctx, dir, python, args...); err != nil {
		return "", fmt.Errorf("%s: %w: %w", e.Name, err, ErrMissing)
	}
	return python, os.WriteFile(done, nil, 0o644)
}
