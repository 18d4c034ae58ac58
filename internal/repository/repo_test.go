// Package repository checks the rules of the repository: which packages may import which, what must be documented,
// how long a function may be, which words may be used, and whether the documents are right. The rules are tests, so
// that `go test ./...` is enough to check them. All of them run in the root directory of the repository.
//
// Every rule is a function from a source tree to a list of violations. It runs twice: on the repository, where the list
// must be empty, and on small planted trees, where it must not be empty.
package repository

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMain(m *testing.M) {
	err := os.Chdir(filepath.Join("..", ".."))
	if err == nil {
		built.dir, err = os.MkdirTemp("", "repository")
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

const modulePath = "github.com/tracegen/tracegen"

// goFile is one parsed source file of the module.
type goFile struct {
	path string // slash-separated, from the repository's root
	test bool
	ast  *ast.File
}

func (f goFile) dir() string { return path.Dir(f.path) }

// sourceTree is the input of the rules: the files that are, or could be, committed.
type sourceTree struct {
	fsys  fs.FS
	paths []string
	fset  *token.FileSet
	gos   []goFile
}

// rule names a check and the violations that it finds, each as "PATH[:LINE]: what is wrong".
type rule struct {
	name  string
	check func(t *sourceTree) []string
}

var rules = []rule{
	{"layers", layerViolations},
	{"dependencies", dependencyViolations},
	{"documented", undocumentedNames},
	{"function length", longFunctions},
	{"package length", longPackages},
	{"names", forbiddenNames},
	{"places", foreignPlaces},
	{"links", deadLinks},
	{"make targets", unknownMakeTargets},
	{"cited tests", missingTests},
	{"words", unclearWords},
	{"line length", longLines},
	{"shares", misplacedShares},
}

// Invariant: A package imports only from rows below its own in the layer table, and only tests import a second
// decoder or another test library.
//
// Invariant: Every exported name and every package has a comment.
//
// Invariant: No function is longer than the limit, and no file, directory or package has an empty name such as util.
//
// Invariant: No package has more than 5,000 lines without its tests.
//
// Invariant: No file names the host of a package registry or a directory of one machine.
//
// Invariant: Every command, flag, make target, test and link that a document shows exists.
func TestRepositoryKeepsItsRules(t *testing.T) {
	tree, err := loadTree(os.DirFS("."), trackedPaths(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, v := range r.check(tree) {
				t.Error(v)
			}
		})
	}
}

// trackedPaths returns the files that git tracks or would track. Outside a git checkout (a source archive) it returns
// every file.
func trackedPaths(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return everyPath(t, os.DirFS("."))
	}
	var paths []string
	for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		// A file that is deleted but not yet committed is still in git's list.
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			paths = append(paths, p)
		}
	}
	return paths
}

func everyPath(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func loadTree(fsys fs.FS, paths []string) (*sourceTree, error) {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	tree := &sourceTree{fsys: fsys, paths: paths, fset: token.NewFileSet()}
	for _, p := range paths {
		if path.Ext(p) != ".go" || inTestdata(p) {
			continue
		}
		src, err := fs.ReadFile(fsys, p)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(tree.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		tree.gos = append(tree.gos, goFile{path: p, test: strings.HasSuffix(p, "_test.go"), ast: file})
	}
	return tree, nil
}

func inTestdata(p string) bool {
	return slices.Contains(strings.Split(path.Dir(p), "/"), "testdata")
}

func (t *sourceTree) text(p string) (string, bool) {
	b, err := fs.ReadFile(t.fsys, p)
	return string(b), err == nil
}

func (t *sourceTree) at(pos token.Pos, format string, args ...any) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// planted is a tree with one fault, or with something that looks like a fault and is none.
type planted struct {
	name  string
	files map[string]string
	want  []string // one substring for each violation, in order; nil if the tree is clean
}

// checkPlanted checks what a rule reports about planted trees.
func checkPlanted(t *testing.T, check func(*sourceTree) []string, cases []planted) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for p, text := range c.files {
				fsys[p] = &fstest.MapFile{Data: []byte(text)}
			}
			tree, err := loadTree(fsys, everyPath(t, fsys))
			if err != nil {
				t.Fatal(err)
			}
			got := check(tree)
			if len(got) != len(c.want) {
				t.Fatalf("got %d violations %q, want %d", len(got), got, len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("violation %d is %q, want it to contain %q", i, got[i], want)
				}
			}
		})
	}
}
