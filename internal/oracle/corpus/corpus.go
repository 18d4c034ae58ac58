// Package corpus downloads released jars, for tests and benchmarks.
//
// bench/corpora.tsv lists the jars; none is committed. A row has six columns, tab-separated:
//
//   - name: the unique name of the row
//   - source: maven:group:name[:type[:classifier]]:version, or jdk:FEATURE:module for a module of an
//     installed JDK
//   - sha256: of the file, or - for what comes from a JDK, which differs from machine to machine
//   - set: small, full or dep. The small set is a share of the full one that an ordinary test run
//     can afford; dep is only there for others to refer to
//   - made by: the compiler and what else is special about the classes
//   - deps: names of rows, separated by blanks, that its classes refer to
//
// Files are kept below the user's cache directory and their sums are checked on every use, so a
// damaged or replaced file is never taken for the real one.
package corpus

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
)

// Row is a line of bench/corpora.tsv; the package comment has its columns.
type Row struct {
	// Name is the unique name of the row.
	Name string
	// Source names the origin of the file; SHA256 is its sum, or - if it differs between machines.
	Source, SHA256 string
	// Set is small, full or dep.
	Set string
	// MadeBy names the compiler and what else is special about the classes.
	MadeBy string
	// Deps names the rows that its classes refer to.
	Deps []string
}

// Jar is a row whose files have been downloaded.
type Jar struct {
	Row
	// Path is the released file: a jar or an aar.
	Path string
	// Classes is the jar that holds the classes: Path itself, or the classes.jar of an aar.
	Classes string
	// DepPaths are the class jars of the rows in Deps.
	DepPaths []string
	// JDK and Module name the module of an installed JDK that the row stands for, if it does.
	JDK    oracle.JDK
	Module string
}

// Corpus is the list of all rows.
type Corpus struct {
	rows   []Row
	byName map[string]Row
	root   string // of the module; empty of a list that was not found there
}

// Load reads bench/corpora.tsv of the module that the working directory lies in.
func Load() (*Corpus, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, errors.New("corpora: no go.mod in or above the working directory")
		}
		dir = parent
	}
	f, err := os.Open(filepath.Join(dir, "bench", "corpora.tsv"))
	if err != nil {
		return nil, fmt.Errorf("corpora: %w", err)
	}
	defer f.Close()
	c, err := Parse(f)
	if err == nil {
		c.root = dir
	}
	return c, err
}

// Parse reads a list in the format of the package comment. Lines that start with # are comments.
func Parse(r io.Reader) (*Corpus, error) {
	c := &Corpus{byName: map[string]Row{}}
	scan := bufio.NewScanner(r)
	for n := 1; scan.Scan(); n++ {
		line := scan.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			return nil, fmt.Errorf("corpora: line %d: %d columns, want 6", n, len(f))
		}
		row := Row{f[0], f[1], f[2], f[3], f[4], strings.Fields(f[5])}
		if _, twice := c.byName[row.Name]; twice {
			return nil, fmt.Errorf("corpora: line %d: %s is there twice", n, row.Name)
		}
		if !slices.Contains([]string{"small", "full", "dep"}, row.Set) {
			return nil, fmt.Errorf("corpora: line %d: no set %q", n, row.Set)
		}
		c.rows = append(c.rows, row)
		c.byName[row.Name] = row
	}
	for _, row := range c.rows {
		for _, d := range row.Deps {
			if _, found := c.byName[d]; !found {
				return nil, fmt.Errorf("corpora: %s depends on %s, which is not listed", row.Name, d)
			}
		}
	}
	return c, scan.Err()
}

// Names returns the names of the small set, or of the full one, which holds the small one too, in
// the order of the list.
func (c *Corpus) Names(full bool) []string {
	var names []string
	for _, r := range c.rows {
		if r.Set == "small" || full && r.Set == "full" {
			names = append(names, r.Name)
		}
	}
	return names
}

// All returns the names of all rows, dependencies included, in the order of the list.
func (c *Corpus) All() []string {
	names := make([]string, len(c.rows))
	for k, r := range c.rows {
		names[k] = r.Name
	}
	return names
}

// Fetch downloads the named rows and their dependencies, with one run of Maven for all that the cache lacks. The result
// lacks rows of a JDK that is not installed. Every other missing file is an error that wraps [oracle.ErrMissing]; a
// file with a wrong sum is an error that does not.
func (c *Corpus) Fetch(ctx context.Context, names ...string) ([]Jar, error) {
	dir, err := oracle.CacheDir("corpora")
	if err != nil {
		return nil, err
	}
	rows, err := c.closure(names)
	if err != nil {
		return nil, err
	}
	if err := fetchMaven(ctx, dir, rows); err != nil {
		return nil, err
	}
	jars := map[string]Jar{}
	for _, row := range rows {
		jar, err := materialize(ctx, dir, row)
		if errors.Is(err, errNoSuchJDK) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("corpora: %s: %w", row.Name, err)
		}
		jars[row.Name] = jar
	}
	var wanted []Jar
	for _, n := range names {
		jar, found := jars[n]
		if !found {
			continue
		}
		for _, d := range jar.Deps {
			if dep, found := jars[d]; found {
				jar.DepPaths = append(jar.DepPaths, dep.Classes)
			}
		}
		wanted = append(wanted, jar)
	}
	return wanted, nil
}

// closure returns the named rows and their direct dependencies, each once. Every row lists all its dependencies, so
// that those of dependencies do not matter.
func (c *Corpus) closure(names []string) ([]Row, error) {
	var rows []Row
	seen := map[string]bool{}
	add := func(n string) error {
		row, found := c.byName[n]
		if !found {
			return fmt.Errorf("corpora: no row %q", n)
		}
		if !seen[n] {
			seen[n] = true
			rows = append(rows, row)
		}
		return nil
	}
	for _, n := range names {
		for _, m := range append([]string{n}, c.byName[n].Deps...) {
			if err := add(m); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

func fetchMaven(ctx context.Context, dir string, rows []Row) error {
	var artifacts []oracle.Artifact
	for _, row := range rows {
		coordinates, isMaven := strings.CutPrefix(row.Source, "maven:")
		if !isMaven {
			continue
		}
		a, err := oracle.ParseArtifact(coordinates)
		if err != nil {
			return fmt.Errorf("corpora: %s: %w", row.Name, err)
		}
		artifacts = append(artifacts, a)
	}
	return oracle.FetchMaven(ctx, dir, artifacts)
}

func materialize(ctx context.Context, dir string, row Row) (Jar, error) {
	jar := Jar{Row: row}
	kind, rest, _ := strings.Cut(row.Source, ":")
	switch kind {
	case "maven":
		a, err := oracle.ParseArtifact(rest)
		if err != nil {
			return jar, err
		}
		jar.Path = filepath.Join(dir, a.File())
		if err := checkSum(jar.Path, row.SHA256); err != nil {
			return jar, err
		}
	case "jdk":
		feature, module, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(feature)
		if err != nil {
			return jar, fmt.Errorf("source %q: %w", row.Source, err)
		}
		jar.JDK, err = oracle.FindJDK(n)
		if err != nil || jar.JDK.Feature != n {
			return jar, errNoSuchJDK
		}
		jar.Module = module
		if jar.Path, err = moduleJar(ctx, dir, jar.JDK, module); err != nil {
			return jar, err
		}
	default:
		return jar, fmt.Errorf("source %q is of no known kind", row.Source)
	}
	jar.Classes = jar.Path
	if filepath.Ext(jar.Path) == ".aar" {
		var err error
		if jar.Classes, err = ClassesOfAAR(jar.Path, strings.TrimSuffix(jar.Path, ".aar")+"-classes.jar"); err != nil {
			return jar, err
		}
	}
	return jar, nil
}

func checkSum(path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s has SHA-256 %s, not %s: delete it, or correct the list", path, got, want)
	}
	return nil
}

// ClassesOfAAR writes the classes.jar of an aar to the file to, and returns that path.
func ClassesOfAAR(aar, to string) (string, error) {
	z, err := zip.OpenReader(aar)
	if err != nil {
		return "", err
	}
	defer z.Close()
	in, err := z.Open("classes.jar")
	if err != nil {
		return "", fmt.Errorf("%s: %w", aar, err)
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "aar-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return "", err
	}
	if err := out.Close(); err != nil {
		return "", err
	}
	return to, os.Rename(out.Name(), to)
}
