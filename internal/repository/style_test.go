package repository

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const (
	// maxFunctionLines is the longest that a function may be, its signature and closing brace included.
	maxFunctionLines = 150
	// maxPackageLines is how many lines a package may have without its tests.
	maxPackageLines = 5000
)

// undocumentedNames returns exported names without a comment, and packages without one. A comment on a group of
// constants, variables or fields is for the whole group; a group of fields ends at the next blank line. A type's own
// comment is also for the fields that it names.
func undocumentedNames(t *sourceTree) []string {
	var found []string
	for _, dir := range packageDirs(t) {
		documented := slices.ContainsFunc(t.gos, func(f goFile) bool {
			return f.dir() == dir && !f.test && f.ast.Doc != nil
		})
		if !documented {
			found = append(found, dir+": no package comment")
		}
	}
	for _, f := range t.gos {
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
					found = append(found, t.at(d.Pos(), "func %s is exported and has no comment", d.Name.Name))
				}
			case *ast.GenDecl:
				found = append(found, t.undocumentedSpecs(d)...)
			}
		}
	}
	return found
}

// exportedReceiver reports whether a function is not a method, or a method of an exported type. Methods of unexported
// types are used through interfaces only, and are documented there.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return true
		}
	}
}

func (t *sourceTree) undocumentedSpecs(d *ast.GenDecl) []string {
	var found []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			// A comment above `type ( … )` does not document a single type.
			if s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				found = append(found, t.at(s.Pos(), "type %s is exported and has no comment", s.Name.Name))
			}
			about := d.Doc.Text() + s.Doc.Text()
			switch typ := s.Type.(type) {
			case *ast.StructType:
				found = append(found, t.undocumentedFields(s.Name.Name, about, typ.Fields)...)
			case *ast.InterfaceType:
				found = append(found, t.undocumentedFields(s.Name.Name, about, typ.Methods)...)
			}
		case *ast.ValueSpec:
			if d.Doc != nil || s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					found = append(found, t.at(name.Pos(), "%s %s is exported and has no comment", d.Tok, name.Name))
				}
			}
		}
	}
	return found
}

func (t *sourceTree) undocumentedFields(owner, about string, fields *ast.FieldList) []string {
	var found []string
	named := wordsOf(about)
	covered, lastLine := false, 0
	for _, field := range fields.List {
		start := t.fset.Position(field.Pos()).Line
		own := field.Doc != nil || field.Comment != nil
		if own || start != lastLine+1 {
			covered = own
		}
		lastLine = t.fset.Position(field.End()).Line
		if covered {
			continue
		}
		for _, name := range field.Names {
			if name.IsExported() && !named[strings.ToLower(name.Name)] {
				found = append(found, t.at(name.Pos(), "%s.%s is exported and has no comment", owner, name.Name))
			}
		}
	}
	return found
}

// wordsOf returns the words of a text in lower case: a comment may call the field Name "its name".
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && r != '_'
	}) {
		words[strings.ToLower(word)] = true
	}
	return words
}

func longFunctions(t *sourceTree) []string {
	var found []string
	for _, f := range t.gos {
		for _, decl := range f.ast.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := t.fset.Position(d.End()).Line - t.fset.Position(d.Pos()).Line + 1
			if lines > maxFunctionLines {
				found = append(found, t.at(d.Pos(), "func %s has %d lines, at most %d are allowed", d.Name.Name, lines,
					maxFunctionLines))
			}
		}
	}
	return found
}

// longPackages lists the packages that have more lines, without their tests, than one person can know.
func longPackages(t *sourceTree) []string {
	lines := map[string]int{}
	for _, f := range t.gos {
		if !f.test {
			lines[f.dir()] += t.fset.File(f.ast.FileStart).LineCount()
		}
	}
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		if n := lines[dir]; n > maxPackageLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d are allowed: remove code, or divide the package", dir, n,
				maxPackageLines))
		}
	}
	return found
}

// emptyNames matches names that do not describe the content.
var emptyNames = regexp.MustCompile(`^(?i)(utils?|commons?|helpers?|managers?|misc|stuff)$`)

func forbiddenNames(t *sourceTree) []string {
	var found []string
	for _, p := range t.paths {
		if inTestdata(p) {
			continue
		}
		for part := range strings.SplitSeq(p, "/") {
			name := strings.TrimSuffix(strings.TrimSuffix(part, path.Ext(part)), "_test")
			if emptyNames.MatchString(name) {
				found = append(found, p+": the name "+name+" says nothing; name the thing that is in it")
				break
			}
		}
	}
	for _, f := range t.gos {
		if emptyNames.MatchString(strings.TrimSuffix(f.ast.Name.Name, "_test")) {
			found = append(found, t.at(f.ast.Package, "the package name %s says nothing", f.ast.Name.Name))
		}
	}
	return found
}

// Registries and the places of tools depend on the machine and its configuration. A build that names a host or a
// directory works on one machine only.
var (
	registryHost = regexp.MustCompile(`(?i)\b(repo1?[.]maven[.]|maven[.]google[.]|plugins[.]gradle[.]org|` +
		`services[.]gradle[.]org|` +
		`proxy[.]golang[.]|sum[.]golang[.]|go[.]dev/dl|dl[.]google[.]|registry[.]npmjs|pypi[.]org|index[.]crates|` +
		`deb[.]debian[.]|security[.]debian[.]|oss[.]sonatype|central[.]sonatype|jitpack[.]io)`)
	machinePath = regexp.MustCompile(`(?:^|[\s"'=(:,\x60\[])(/(?:root|work|home|Users)/[A-Za-z0-9._-]|` +
		`/usr/(?:lib/j[v]m|local/go)\b)`)
)

func foreignPlaces(t *sourceTree) []string {
	var found []string
	for _, p := range t.paths {
		b, err := fs.ReadFile(t.fsys, p)
		if err != nil || bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
			continue
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			if m := registryHost.FindString(line); m != "" {
				found = append(found, p+":"+strconv.Itoa(n)+": names the registry host "+m)
			}
			if m := machinePath.FindStringSubmatch(line); m != nil {
				found = append(found, p+":"+strconv.Itoa(n)+": names the machine's path "+m[1])
			}
		}
	}
	return found
}

// Invariant: Every exported name and every package has a comment.
func TestDocumentationRuleFindsPlantedFaults(t *testing.T) {
	in := func(body string) map[string]string {
		return map[string]string{"a/a.go": "// Package a is here.\npackage a\n\n" + body}
	}
	checkPlanted(t, undocumentedNames, []planted{
		{"clean", in("// F does.\nfunc F() {}\n\n// T is.\ntype T struct {\n\t// A and B are a pair.\n\tA int\n\tB " +
			"int\n\n\tC int // C too\n}\n\n// M does.\nfunc (T) M() {}\n"), nil},
		{"no package comment", map[string]string{"a/a.go": "package a\n"}, []string{"a: no package comment"}},
		{"comment in another file will do", map[string]string{"a/a.go": "package a\n",
			"a/doc.go": "// Package a is.\npackage a\n"}, nil},
		{"comment in a test will not do", map[string]string{"a/a.go": "package a\n",
			"a/a_test.go": "// Package a is.\npackage a\n"}, []string{"a: no package comment"}},
		{"func", in("func F() {}\n"), []string{"a/a.go:4: func F"}},
		{"method", in("// T is.\ntype T[K any] int\n\nfunc (t *T[K]) M() {}\n"), []string{"func M"}},
		{"method of an unexported type", in("type t int\n\nfunc (t) M() {}\n"), nil},
		{"type", in("type T int\n"), []string{"type T"}},
		{"type in a group", in("// Both.\ntype (\n\tT int\n\t// U is.\n\tU int\n)\n"), []string{"type T"}},
		{"const", in("const C = 1\n"), []string{"const C"}},
		{"group of consts", in("// All of them.\nconst (\n\tC = 1\n\tD = 2\n)\n"), nil},
		{"consts one by one", in("const (\n\tC = 1 // C is\n\tD = 2\n)\n"), []string{"const D"}},
		{"var", in("var A, b, C int\n"), []string{"var A", "var C"}},
		{"field", in("// T is.\ntype T struct {\n\tA int // A is\n\n\tB int\n\tc int\n}\n"), []string{"T.B"}},
		{"field named by the type's comment", in("// T pairs A with more.\ntype T struct {\n\tA int\n\tB int\n}\n"),
			[]string{"T.B"}},
		{"interface method", in("// T is.\ntype T interface {\n\tM()\n}\n"), []string{"T.M"}},
		{"unexported things", in("func f() {}\n\ntype t struct{ A int }\n\nconst c = 1\n"), nil},
	})
}

// Invariant: No function is longer than the limit, and no file, directory or package has an empty name such as util.
func TestFunctionLengthRuleFindsPlantedFaults(t *testing.T) {
	function := func(lines int) map[string]string {
		return map[string]string{"a/a.go": "package a\n\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"}
	}
	checkPlanted(t, longFunctions, []planted{
		{"at the limit", function(maxFunctionLines), nil},
		{"one over", function(maxFunctionLines + 1), []string{"func f has 151 lines"}},
	})
}

// Invariant: No package has more than 5,000 lines without its tests.
func TestPackageLengthRuleFindsPlantedFaults(t *testing.T) {
	pkg := func(lines int) map[string]string {
		first, test := "package a\n"+strings.Repeat("\n", 99), "package a\n"+strings.Repeat("\n", maxPackageLines)
		return map[string]string{"a/a.go": first, "a/b.go": "package a\n" + strings.Repeat("\n", lines-101),
			"a/a_test.go": test, "a/b/c.go": first}
	}
	checkPlanted(t, longPackages, []planted{
		{"at the limit", pkg(maxPackageLines), nil},
		{"one over", pkg(maxPackageLines + 1), []string{"a: 5001 lines"}},
	})
}

// Invariant: No function is longer than the limit, and no file, directory or package has an empty name such as util.
func TestNameRuleFindsPlantedFaults(t *testing.T) {
	checkPlanted(t, forbiddenNames, []planted{
		{"clean", map[string]string{"a/utility.go": "package a\n", "testdata/utils/A.java": ""}, nil},
		{"directory", map[string]string{"internal/util/a.go": "package a\n"}, []string{"internal/util/a.go: the name util"}},
		{"file", map[string]string{"a/helpers.go": "package a\n"}, []string{"the name helpers"}},
		{"test file", map[string]string{"a/common_test.go": "package a\n"}, []string{"the name common"}},
		{"java", map[string]string{"j/Manager.java": ""}, []string{"the name Manager"}},
		{"package", map[string]string{"a/a.go": "package misc\n"}, []string{"package name misc"}},
	})
}

// Invariant: No file names the host of a package registry or a directory of one machine.
func TestPlaceRuleFindsPlantedFaults(t *testing.T) {
	// These are concatenated because the rule also reads this file.
	host := "https://" + "repo" + ".maven.apache.org/x"
	jdk := "/usr/lib" + "/jvm/java-17"
	checkPlanted(t, foreignPlaces, []planted{
		{"clean", map[string]string{"a.md": "the net/" + "root/one, http://maven.apache.org/POM/4.0.0 and out/home/x\n"},
			nil},
		{"host", map[string]string{"a.md": "one\nsee " + host + "\n"}, []string{"a.md:2: names the registry host"}},
		{"jdk", map[string]string{"a.sh": "JAVA=" + jdk + "/bin/java\n"}, []string{"a.sh:1: names the machine's path"}},
		{"home", map[string]string{"a.go": "package a\n\nconst p = \"/" + "root/.m2\"\n"}, []string{"a.go:3"}},
		{"binary", map[string]string{"a.jar": "\x00 " + host}, nil},
	})
}
