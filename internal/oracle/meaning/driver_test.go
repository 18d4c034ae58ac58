package meaning

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// A driver is a program whose main class is Driver, and which is instrumented along with the runtime.
type driver struct {
	jdk         oracle.JDK
	dir         string // where it runs
	plain, path string // class paths without and with calls
	methods     *mapping.Mapping
	mapping     string // the file that has the methods
}

// newDriver compiles a source by a JDK of at least this release, and instruments it as c says: every method of it if c
// has no filter.
func newDriver(t *testing.T, release int, source string, c pipeline.Config) driver {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: builds the runtime with Maven")
	}
	d := driver{jdk: oracle.NeedJDK(t, release), dir: t.TempDir()}
	jars := oracle.NeedRuntime(t)
	d.plain, d.mapping = filepath.Join(d.dir, "classes"), filepath.Join(d.dir, "methodMapping.txt")
	javac(t, d.jdk, d.plain, fixture.Write(t, filepath.Join(d.dir, "Driver.java"), source))
	program, runtime := filepath.Join(d.dir, "program.jar"), filepath.Join(d.dir, "runtime.jar")
	if c.Filter == nil {
		c.Filter = filter.New(filter.Options{Trivial: filter.None})
	}
	c.Inputs = []pipeline.Input{{Path: d.plain, Output: program}, {Path: jars.JVM, Output: runtime}}
	c.Files = func(r *pipeline.Result) ([]pipeline.File, error) {
		return []pipeline.File{{Path: d.mapping, Content: r.Mapping}}, nil
	}
	result, err := pipeline.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	d.path, d.methods = pathList(program, runtime), result.Mapping
	return d
}

// withoutDriver traces all methods but those of the main class, whose calls are the outermost ones then.
func withoutDriver(t *testing.T) *filter.Filter {
	t.Helper()
	rule, err := filter.ParseRule(false, "Driver", filter.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return filter.New(filter.Options{Trivial: filter.None, Rules: []filter.Rule{rule}})
}

// record runs the program with flags of the JVM and arguments, and writes the recording.
func (d driver) record(t *testing.T, file string, flags []string, args ...string) outcome {
	t.Helper()
	flags = append(flags[:len(flags):len(flags)], "-Dtracegen.output="+file, "-cp", d.path, "Driver")
	return command{jdk: d.jdk, dir: d.dir, args: append(flags, args...)}.run(t)
}

// eachChunk visits the chunks of a recording, and returns what of it is damaged.
func eachChunk(t *testing.T, file string, visit func(trace.Chunk)) trace.Damage {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Damage()
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(c)
	}
}
