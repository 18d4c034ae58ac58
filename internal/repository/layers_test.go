package repository

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const architecture = "ARCHITECTURE.md"

// The rows of the layer table are numbers, and two words for packages that are not part of a layer.
const (
	rowTests = "tests" // imported by tests only; may import anything
	rowTools = "tools" // programs for developers, imported by no package; may import anything
)

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	// testOnlyModules are decoders and libraries for tests. The tool itself must not depend on them.
	testOnlyModules = []string{"github.com/zxh0/jvm.go", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
		"github.com/santhosh-tekuri/jsonschema/v6"}
)

// markdownTable returns the body rows of the first table whose header starts with the given cells.
func markdownTable(text string, header ...string) [][]string {
	var rows [][]string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if inside {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !inside:
			inside = len(cells) >= len(header) && slices.Equal(cells[:len(header)], header)
		case strings.Trim(cells[0], "-: ") == "":
			// The line below the header.
		default:
			rows = append(rows, cells)
		}
	}
	return rows
}

// layerTable maps a package's directory to its row in ARCHITECTURE.md.
func layerTable(t *sourceTree) map[string]string {
	text, _ := t.text(architecture)
	rowOf := map[string]string{}
	for _, cells := range markdownTable(text, "row", "packages") {
		for _, span := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
			rowOf[span[1]] = cells[0]
		}
	}
	return rowOf
}

// independent are packages that check each other's work: none may import another, not even indirectly. They share a row
// of the layer table, because a package imports only from rows below its own.
var independent = []string{"inject", "classfile/verify/equivalence", "classfile/verify/types"}

// independenceViolations reports if the independent packages are not all in one row of the layer table.
func independenceViolations(rowOf map[string]string) (found []string) {
	for _, dir := range independent[1:] {
		if row, first := rowOf[dir], rowOf[independent[0]]; row != first {
			found = append(found, architecture+": "+dir+" is in row "+row+" of the layer table and "+independent[0]+
				" in row "+first+": they must share one, as neither may import the other")
		}
	}
	return found
}

// layerViolations compares every import of a non-test file with the layer table: a package imports only from rows below
// its own. Tests may import anything, because their imports are not part of the tool.
func layerViolations(t *sourceTree) []string {
	rowOf := layerTable(t)
	if len(rowOf) == 0 {
		return []string{architecture + ": no layer table (| row | packages |)"}
	}
	found := independenceViolations(rowOf)
	seen := map[string]bool{}
	for _, f := range t.gos {
		if f.test {
			continue
		}
		row, listed := rowOf[f.dir()]
		if !listed && !seen[f.dir()] {
			found = append(found, t.at(f.ast.Package, "package %s is not in the layer table of %s", f.dir(), architecture))
		}
		seen[f.dir()] = true
		if !listed || row == rowTests || row == rowTools {
			continue
		}
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if why := importFault(row, imported, rowOf); why != "" {
				found = append(found, t.at(spec.Pos(), "%s must not import %s: %s", f.dir(), imported, why))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(rowOf)) {
		// Oracles may consist of tests alone, so that any Go file counts.
		if !slices.ContainsFunc(t.gos, func(f goFile) bool { return f.dir() == dir }) {
			found = append(found, architecture+": the layer table has "+dir+", which holds no package")
		}
	}
	return found
}

// importFault returns why a package of the given row must not import another; "" if it may.
func importFault(row, imported string, rowOf map[string]string) string {
	for _, m := range testOnlyModules {
		if imported == m || strings.HasPrefix(imported, m+"/") {
			return "it is for tests only"
		}
	}
	if imported == "C" {
		return "no cgo"
	}
	dir, ours := strings.CutPrefix(imported, modulePath+"/")
	if !ours {
		return ""
	}
	importedRow, listed := rowOf[dir]
	if !listed {
		return "it is not in the layer table"
	}
	above, err1 := strconv.Atoi(row)
	below, err2 := strconv.Atoi(importedRow)
	switch {
	case err1 != nil || err2 != nil:
		return "row " + importedRow + " is not for others to import"
	case below >= above:
		return "row " + importedRow + " is not below row " + row
	}
	return ""
}

// dependencyViolations reports a module that go.mod requires directly without a line in ARCHITECTURE.md that explains
// why, and a line for a module that is not required.
func dependencyViolations(t *sourceTree) []string {
	text, _ := t.text(architecture)
	explained := map[string]bool{}
	for _, cells := range markdownTable(text, "module", "why") {
		for _, span := range codeSpan.FindAllStringSubmatch(cells[0], -1) {
			explained[span[1]] = true
		}
	}
	var found []string
	gomod, _ := t.text("go.mod")
	required := directRequirements(gomod)
	for _, m := range required {
		if !explained[m] {
			found = append(found, "go.mod: "+m+" has no line in the dependency table of "+architecture)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(explained)) {
		if !slices.Contains(required, m) {
			found = append(found, architecture+": "+m+" is in the dependency table but not a direct requirement of go.mod")
		}
	}
	return found
}

// directRequirements returns the modules that go.mod requires and does not mark as indirect. A module that is there for
// a tool line alone counts as direct.
func directRequirements(gomod string) []string {
	var direct, tools []string
	block := ""
	for line := range strings.Lines(gomod) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == ")":
			block = ""
			continue
		case len(fields) > 1 && fields[1] == "(":
			block = fields[0]
			continue
		case block != "":
			fields = append([]string{block}, fields...)
		}
		switch fields[0] {
		case "require":
			if !strings.Contains(line, "// indirect") || requiredByTool(fields[1], tools, gomod) {
				direct = append(direct, fields[1])
			}
		case "tool":
			tools = append(tools, fields[1])
		}
	}
	slices.Sort(direct)
	return direct
}

func requiredByTool(module string, tools []string, gomod string) bool {
	if slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(tool, module+"/") }) {
		return true
	}
	return strings.Contains(gomod, "\ntool "+module+"/")
}

// Invariant: A package imports only from rows below its own in the layer table, and only tests import a second
// decoder or another test library.
func TestLayerRuleFindsPlantedFaults(t *testing.T) {
	const table = "# A\n\n| row | packages |\n|---|---|\n| 2 | `top` |\n" +
		"| 1 | `inject`, `classfile/verify/equivalence`, `classfile/verify/types` |\n| 0 | `classfile` |\n| tests | " +
		"`oracle` |\n\nend\n"
	clean := map[string]string{
		architecture: table,
		"top/a.go": "package top\nimport _ \"" + modulePath + "/inject\"\nimport _ \"" +
			modulePath + "/classfile\"\n",
		"inject/a.go":                       "package inject\nimport _ \"" + modulePath + "/classfile\"\n",
		"inject/a_test.go":                  "package inject\nimport _ \"" + modulePath + "/oracle\"\n",
		"classfile/verify/equivalence/a.go": "package equivalence\n",
		"classfile/verify/types/a.go":       "package types\n",
		"classfile/a.go":                    "package classfile\nimport _ \"fmt\"\n",
		"oracle/a.go":                       "package oracle\nimport _ \"" + modulePath + "/top\"\n",
	}
	with := func(p, text string) map[string]string {
		m := maps.Clone(clean)
		m[p] = text
		return m
	}
	moved := func(dir string) string { // to row 0
		without := strings.Replace(strings.Replace(table, "`"+dir+"`, ", "", 1), ", `"+dir+"` |", " |", 1)
		return strings.Replace(without, "| 0 | ", "| 0 | `"+dir+"`, ", 1)
	}
	imports := func(pkg, imported string) string {
		return "package " + pkg + "\nimport _ \"" + imported + "\"\n"
	}
	checkPlanted(t, layerViolations, []planted{
		{"clean", clean, nil},
		{"upwards", with("classfile/b.go", imports("classfile", modulePath+"/inject")),
			[]string{"classfile/b.go:2: classfile must not import"}},
		{"the injector sees its check", with("inject/b.go", imports("inject", modulePath+"/classfile/verify/equivalence")),
			[]string{"row 1 is not below row 1"}},
		{"the equivalence check sees the injector", with("classfile/verify/equivalence/b.go",
			imports("equivalence", modulePath+"/inject")),
			[]string{"classfile/verify/equivalence must not import " + modulePath + "/inject: row 1 is not below row 1"}},
		{"the equivalence check sees types", with("classfile/verify/equivalence/b.go",
			imports("equivalence", modulePath+"/classfile/verify/types")),
			[]string{"classfile/verify/equivalence must not import " + modulePath +
				"/classfile/verify/types: row 1 is not below row 1"}},
		{"the type check sees the injector", with("classfile/verify/types/b.go", imports("types", modulePath+"/inject")),
			[]string{"row 1 is not below row 1"}},
		{"the injector moved below its check", with(architecture, moved("inject")),
			[]string{"classfile/verify/equivalence is in row 1", "classfile/verify/types is in row 1",
				"inject/a.go:2: inject must not import"}},
		{"types moved below the equivalence check", with(architecture, moved("classfile/verify/types")),
			[]string{"classfile/verify/types is in row 0 of the layer table and inject in row 1"}},
		{"oracle in the tool", with("top/b.go", imports("top", modulePath+"/oracle")),
			[]string{"row tests is not for others"}},
		{"test library in the tool", with("top/b.go", imports("top", testOnlyModules[0]+"/classfile")),
			[]string{"for tests only"}},
		{"cgo", with("top/b.go", imports("top", "C")), []string{"no cgo"}},
		{"unlisted package", with("extra/a.go", "package extra\n"), []string{"package extra is not in the layer table"}},
		{"import of an unlisted package", with("top/b.go", imports("top", modulePath+"/gone")),
			[]string{"it is not in the layer table"}},
		{"listed and gone", with(architecture, strings.Replace(table, "`classfile` |", "`classfile`, `lost` |", 1)),
			[]string{"lost, which holds no package"}},
		{"no table", with(architecture, "# A\n"), []string{"no layer table"}},
	})
}

func TestDependencyRuleFindsPlantedFaults(t *testing.T) {
	const table = "| module | why |\n|---|---|\n| `example.com/a` | work |\n| `example.com/t` | tool |\n"
	const gomod = "module m\n\nrequire example.com/a v1.0.0\n\nrequire (\n\texample.com/i v1.0.0 // indirect\n" +
		"\texample.com/t v1.0.0 // indirect\n)\n\ntool example.com/t/cmd/t\n"
	checkPlanted(t, dependencyViolations, []planted{
		{"clean", map[string]string{architecture: table, "go.mod": gomod}, nil},
		{"unexplained", map[string]string{architecture: table, "go.mod": gomod + "\nrequire example.com/new v1.0.0\n"},
			[]string{"example.com/new has no line"}},
		{"gone", map[string]string{architecture: table + "| `example.com/old` | was |\n", "go.mod": gomod},
			[]string{"example.com/old is in the dependency table"}},
	})
}

// packageDirs lists the directories that hold non-test Go files.
func packageDirs(t *sourceTree) []string {
	dirs := map[string]bool{}
	for _, f := range t.gos {
		if !f.test {
			dirs[path.Dir(f.path)] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}
