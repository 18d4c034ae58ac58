// Package corpus downloads released jars, for tests and benchmarks.
//
// bench/corpora.tsv lists the jars; none is committed. A row has six columns, tab-separated:
//
//   - name: the unique name of the row
//   - source: maven:group:name[:type[:classifier]]:version
//   - sha256: of the file
//   - set: small, full or dep. The small set is a share of the full one that an ordinary test run
//     can afford; dep is only there for others to refer to
//   - made by: the compiler and what else is special about the classes
//   - deps: names of rows, separated by blanks, that its classes refer to
//
// Files are kept below the user's cache directory and their sums are checked on every use, so a
// damaged or replaced file is never taken for the real one.
package corpus

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
)

// Row is a line of bench/corpora.tsv; the package comment has its columns.
type Row struct {
	// Name is the unique name of the row.
	Name string
	// Source names the origin of the file; SHA256 is its sum.
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
}

// Corpus is the list of all rows.
type Corpus struct {
	rows   []Row
	byName map[string]Row
}

// Load reads bench/corpora.tsv of the module that the working directory lies in.
func Load() (*Corpus, error) {
	root, err := oracle.Root()
	if err != nil {
		return nil, fmt.Errorf("corpora: %w", err)
	}
	f, err := os.Open(filepath.Join(root, "bench", "corpora.tsv"))
	if err != nil {
		return nil, fmt.Errorf("corpora: %w", err)
	}
	defer f.Close()
	return Parse(f)
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

// Fetch downloads the named rows and their dependencies, with one run of Maven for all that the cache lacks. A missing
// file is an error that wraps [oracle.ErrMissing]; a file with a wrong sum is an error that does not.
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
		jar, err := materialize(dir, row)
		if err != nil {
			return nil, fmt.Errorf("corpora: %s: %w", row.Name, err)
		}
		jars[row.Name] = jar
	}
	var wanted []Jar
	for _, n := range names {
		jar := jars[n]
		for _, d := range jar.Deps {
			jar.DepPaths = append(jar.DepPaths, jars[d].Classes)
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

// artifact returns the row's file in a Maven repository.
func (r Row) artifact() (oracle.Artifact, error) {
	coordinates, isMaven := strings.CutPrefix(r.Source, "maven:")
	if !isMaven {
		return oracle.Artifact{}, fmt.Errorf("corpora: %s: source %q is of no known kind", r.Name, r.Source)
	}
	return oracle.ParseArtifact(coordinates)
}

func fetchMaven(ctx context.Context, dir string, rows []Row) error {
	var artifacts []oracle.Artifact
	for _, row := range rows {
		a, err := row.artifact()
		if err != nil {
			return err
		}
		artifacts = append(artifacts, a)
	}
	return oracle.FetchMaven(ctx, dir, artifacts)
}

func materialize(dir string, row Row) (Jar, error) {
	a, err := row.artifact()
	if err != nil {
		return Jar{}, err
	}
	jar := Jar{Row: row, Path: filepath.Join(dir, a.File())}
	if err := oracle.CheckSum(jar.Path, row.SHA256); err != nil {
		return jar, err
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

// ClassesOfAAR writes the classes.jar of an aar to the file to, and returns that path.
func ClassesOfAAR(aar, to string) (string, error) {
	part := to + ".part"
	if err := oracle.Extract(aar, "classes.jar", part); err != nil {
		return "", err
	}
	return to, os.Rename(part, to)
}
