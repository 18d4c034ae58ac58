package oracle

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// matrixArtifacts are the newest release of Matrix's Gradle plugin in Maven's central repository that has a reader of
// method mappings, and its dependencies. The parts of the Android Gradle plugin that it needs are stubs beside our
// driver.
var matrixArtifacts = []Artifact{
	{Group: "com.tencent.matrix", Name: "matrix-gradle-plugin", Version: "2.0.8", Type: "jar"},
	{Group: "com.tencent.matrix", Name: "matrix-commons", Version: "2.0.8", Type: "jar"},
	{Group: "org.ow2.asm", Name: "asm", Version: "7.0", Type: "jar"},
	{Group: "org.ow2.asm", Name: "asm-tree", Version: "7.0", Type: "jar"},
	{Group: "org.ow2.asm", Name: "asm-analysis", Version: "7.0", Type: "jar"},
	{Group: "org.ow2.asm", Name: "asm-commons", Version: "7.0", Type: "jar"},
	{Group: "org.jetbrains.kotlin", Name: "kotlin-stdlib", Version: "1.4.32", Type: "jar"},
}

// MatrixMethod is a method as Matrix's plugin holds it; all names are as in its files.
type MatrixMethod struct {
	// ID is the method ID, Access the access flags that ASM reports.
	ID, Access int
	// Class, Name and Desc are the names; Desc is "null" if the mapping had none.
	Class, Name, Desc string
}

// Matrix runs the classes of Matrix's own Gradle plugin (MatrixTrace.ParseMappingTask and MethodCollector). They read
// the method mapping base. If jar is not empty, they then collect its methods, of which those in base keep their IDs,
// and write a method mapping to the file out. It returns the methods that the plugin has at the end, in no order.
func Matrix(t testing.TB, base, jar, out string) []MatrixMethod {
	t.Helper()
	j := NeedJDK(t, 11)
	dir, err := CacheDir("maven")
	Require(t, err)
	Require(t, FetchMaven(t.Context(), dir, matrixArtifacts))
	var jars []string
	for _, a := range matrixArtifacts {
		jars = append(jars, filepath.Join(dir, a.File()))
	}
	main := tool{name: "matrix", release: 8, path: jars}.need(t, j)
	list := filepath.Join(t.TempDir(), "list")
	args := []string{"-cp", classPath(append(jars, main)...), "dev.tracegen.oracle.Matrix", base, list}
	if jar != "" {
		args = append(args, jar, out)
	}
	Require(t, j.java(t.Context(), args...))
	var all []MatrixMethod
	for line := range strings.Lines(fixture.Text(t, list)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 5 {
			t.Fatalf("matrix: %q: want five columns", line)
		}
		id, err1 := strconv.Atoi(fields[0])
		access, err2 := strconv.Atoi(fields[1])
		Require(t, errors.Join(err1, err2))
		all = append(all, MatrixMethod{id, access, fields[2], fields[3], fields[4]})
	}
	return all
}
