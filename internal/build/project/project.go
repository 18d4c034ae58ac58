// Package project finds out what kind of project a directory holds, and writes a first tracegen.yml for it.
//
// [Find] looks at the names of build files, and for a few words in them: the Android plugins of Gradle, and the
// settings of the plugins of Matrix and btrace, whose lists of methods tracegen can use. It does not run a build tool,
// so it may be wrong about projects whose build files are made by programs. What it finds is printed, and decides only
// what the file says in comments, and which command is suggested.
package project

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
	"github.com/tracegen/tracegen/internal/userfile"
)

// Kind is the build tool of a project.
type Kind uint8

// The kinds.
const (
	Unknown Kind = iota
	Android      // a Gradle build with an Android plugin
	Gradle       // another Gradle build
	Maven
	Bazel
	Archives // no build file, but archives
)

// Project is what Find found.
type Project struct {
	// Kind is the build tool.
	Kind Kind
	// File is the build file that says so, or the first archive; relative to the directory, with slashes.
	File string
	// Archives are the archives of the directory and of the directories in which build tools put them, the newest
	// first.
	Archives []string
	// BlockLists are the block lists of Matrix's plugin that build files name, as far as they exist.
	BlockLists []string
	// Bases are the mappings that the plugins of Matrix or btrace keep IDs by, as far as they exist.
	Bases []string
	// Other names the plugins whose settings were found: "Matrix", "btrace".
	Other []string
}

// buildFiles are the files that say which build tool a project has. The first that exists decides.
var buildFiles = []struct {
	name string
	kind Kind
}{
	{"settings.gradle", Gradle}, {"settings.gradle.kts", Gradle}, {"build.gradle", Gradle}, {"build.gradle.kts", Gradle},
	{"pom.xml", Maven},
	{"MODULE.bazel", Bazel}, {"WORKSPACE", Bazel}, {"WORKSPACE.bazel", Bazel},
}

var (
	androidPlugin = glob.Regexp(`com\.android\.(application|library|dynamic-feature|tools\.build:gradle)`)
	matrixBlock   = glob.Regexp(`(?m)^\s*matrix\s*\{`)
	btraceBlock   = glob.Regexp(`(?m)^\s*(rheaTrace|btrace)\s*\{`)
	blockList     = glob.Regexp(`(?:black|block)ListFile\s*(?:=|\s|\()\s*"?'?([^"'\n)]+)`)
	baseMapping   = glob.Regexp(`(?:baseMethodMapFile|applyMethodMappingFilePath)\s*(?:=|\s|\()\s*"?'?([^"'\n)]+)`)
)

// Find looks at a directory. The error is one of reading it.
func Find(dir string) (*Project, error) {
	p := &Project{}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	for _, f := range buildFiles {
		if info, err := os.Stat(filepath.Join(dir, f.name)); err == nil && info.Mode().IsRegular() {
			p.Kind, p.File = f.kind, f.name
			break
		}
	}
	if p.Kind == Gradle {
		if err := p.readGradle(dir); err != nil {
			return nil, err
		}
	}
	p.findArchives(dir)
	if p.Kind == Unknown && len(p.Archives) > 0 {
		p.Kind, p.File = Archives, p.Archives[0]
	}
	return p, nil
}

// readGradle looks into the build files of the directory and of the two levels below it.
func (p *Project) readGradle(dir string) error {
	var files []string
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		for _, extension := range []string{".gradle", ".gradle.kts", ".versions.toml"} {
			found, err := filepath.Glob(filepath.Join(escape(dir), pattern+extension))
			if err != nil {
				return err
			}
			files = append(files, found...)
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		data, err := userfile.ReadText(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		text := string(data)
		if androidPlugin().MatchString(text) && p.Kind != Android {
			p.Kind, p.File = Android, filepath.ToSlash(name)
		}
		if matrixBlock().MatchString(text) {
			p.Other = appendNew(p.Other, "Matrix")
			p.addFiles(&p.BlockLists, dir, file, blockList().FindAllStringSubmatch(text, -1))
			p.addFiles(&p.Bases, dir, file, baseMapping().FindAllStringSubmatch(text, -1))
		}
		if btraceBlock().MatchString(text) {
			p.Other = appendNew(p.Other, "btrace")
			p.addFiles(&p.Bases, dir, file, baseMapping().FindAllStringSubmatch(text, -1))
		}
	}
	return nil
}

// escape returns a pattern of package filepath that matches the path.
func escape(path string) string {
	if filepath.Separator == '\\' {
		return path // has no escapes
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// addFiles adds the files that a setting of a build file names, as far as they exist.
func (p *Project) addFiles(to *[]string, dir, buildFile string, matches [][]string) {
	module := filepath.Dir(buildFile)
	variables := strings.NewReplacer("${project.rootDir}", dir, "$project.rootDir", dir, "${rootDir}", dir, "$rootDir",
		dir, "${rootProject.projectDir}", dir, "${project.projectDir}", module, "${projectDir}", module, "$projectDir",
		module)
	for _, m := range matches {
		path := filepath.FromSlash(variables.Replace(strings.TrimSpace(m[1])))
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, dir) {
			path = filepath.Join(module, path)
		}
		name, err := filepath.Rel(dir, path)
		if info, e := os.Stat(path); err == nil && e == nil && info.Mode().IsRegular() {
			*to = appendNew(*to, filepath.ToSlash(name))
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// findArchives looks for archives where they are put by people and by build tools.
func (p *Project) findArchives(dir string) {
	type archive struct {
		name string
		info fs.FileInfo
	}
	var found []archive
	for _, below := range []string{"", "target", "build/libs", "app/build/libs"} {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(below)))
		if err != nil {
			continue
		}
		for _, e := range entries {
			stem, isArchive := strings.CutSuffix(e.Name(), ".jar")
			info, err := e.Info()
			if err != nil || !isArchive || !info.Mode().IsRegular() {
				continue
			}
			if strings.HasSuffix(stem, "-sources") || strings.HasSuffix(stem, "-javadoc") ||
				strings.HasSuffix(stem, "-plain") || strings.HasPrefix(stem, "original-") {
				continue
			}
			found = append(found, archive{strings.TrimPrefix(below+"/"+e.Name(), "/"), info})
		}
	}
	slices.SortStableFunc(found, func(a, b archive) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.name, b.name))
	})
	for _, a := range found {
		p.Archives = append(p.Archives, a.name)
	}
}
