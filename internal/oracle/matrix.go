package oracle

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
func Matrix(ctx context.Context, base, jar, out string) ([]MatrixMethod, error) {
	j, err := FindJDK(11)
	if err != nil {
		return nil, err
	}
	dir, err := CacheDir("maven")
	if err != nil {
		return nil, err
	}
	if err := FetchMaven(ctx, dir, matrixArtifacts); err != nil {
		return nil, err
	}
	var jars []string
	for _, a := range matrixArtifacts {
		jars = append(jars, filepath.Join(dir, a.File()))
	}
	main, err := tool{name: "matrix", release: 8, path: jars}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "matrix-")
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	defer os.RemoveAll(tmp)
	list := filepath.Join(tmp, "list")
	args := []string{"-cp", classPath(append(jars, main)...), "dev.tracegen.oracle.Matrix", base, list}
	if jar != "" {
		args = append(args, jar, out)
	}
	if err := j.java(ctx, args...); err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	return readMatrixMethods(list)
}

func readMatrixMethods(path string) (all []MatrixMethod, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("matrix: %q: want five columns", lines.Text())
		}
		id, err1 := strconv.Atoi(fields[0])
		access, err2 := strconv.Atoi(fields[1])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("matrix: %q: want numbers", lines.Text())
		}
		all = append(all, MatrixMethod{id, access, fields[2], fields[3], fields[4]})
	}
	return all, lines.Err()
}
