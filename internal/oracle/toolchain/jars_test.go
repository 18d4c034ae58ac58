package toolchain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// androidJars are rows of the corpus that Android apps have, the first few for an ordinary run.
var androidJars = []string{"timber-5.0.1", "kotlinx-coroutines-core-jvm-1.10.2", "lottie-6.6.6", "kotlin-stdlib-1.0.7",
	"jackson-core-2.19.0", "guava-18.0", "kotlin-stdlib-2.2.20", "rxjava-3.1.10", "glide-4.16.0", "coil-base-2.7.0",
	"imagepipeline-3.6.0", "leakcanary-android-core-2.14", "shark-2.14", "commons-lang3-3.17.0", "bcprov-jdk18on-1.81"}

const fewJars = 2

// numbers are what moves in a message when calls are inserted: lines, offsets, and the hash in the name of a lambda.
var numbers = regexp.MustCompile(`[0-9a-f]{32,}|[0-9]+`)

// TestCorpusD8Jars compiles released jars with D8, as they are and instrumented. D8 must say the same of both.
//
// Invariant: D8 has no more to say of an instrumented jar than of the original, in any exit mode.
func TestCorpusD8Jars(t *testing.T) {
	nightly.Only(t, "tools")
	tools, err := Versions[0].Fetch(t.Context())
	oracle.Require(t, err)
	library := Library(t)
	names, modes, apis := androidJars[:fewJars], []string{"exact"}, minAPIs[:1]
	if corpus.IsFull() {
		names, modes, apis = androidJars, []string{"normal", "throws", "exact"}, minAPIs
	}
	jars := corpus.Need(t, names...)
	tool := oracle.BuildTool(t)
	rows := "jar\tapi\texits\tmessages\tnew\tbytes\tmethod_ids\n"
	for _, jar := range jars {
		if !slices.Contains(names, jar.Name) {
			continue
		}
		t.Run(jar.Name, func(t *testing.T) {
			dir := t.TempDir()
			in := filepath.Join(dir, "in.jar")
			FirstRelease(t, in, jar.Classes)
			for _, api := range apis {
				before := compile(t, tools, Dexing{MinAPI: api, Library: library, ClassPath: jar.DepPaths}, in)
				rows += fmt.Sprintf("%s\t%d\t-\t%d\t0\t%d\t%d\n", jar.Name, api, len(before.messages), before.bytes,
					before.methods)
				for _, mode := range modes {
					out := filepath.Join(dir, mode+".jar")
					command(t, tool, "instrument", "-q", in, "-o", out, "--mapping", filepath.Join(dir, mode+".txt"),
						"--exits", mode, "--set", "trivial=none", "--runtime-external")
					after := compile(t, tools, Dexing{MinAPI: api, Library: library, ClassPath: jar.DepPaths}, out)
					added := surplus(before.messages, after.messages)
					for _, text := range added {
						t.Errorf("API %d, %s: D8 says, of the instrumented jar only: %s", api, mode, text)
					}
					if after.methods < before.methods || after.bytes <= before.bytes {
						t.Errorf("API %d, %s: %d methods in %d bytes, before %d in %d", api, mode, after.methods,
							after.bytes, before.methods, before.bytes)
					}
					rows += fmt.Sprintf("%s\t%d\t%s\t%d\t%d\t%d\t%d\n", jar.Name, api, mode, len(after.messages),
						len(added), after.bytes, after.methods)
				}
			}
		})
	}
	t.Logf("measured: D8 %s:\n%s", tools.Version, rows)
}

// compiled is what D8 made of a jar, and said.
type compiled struct {
	messages       []string
	bytes, methods int64 // file_size and method_ids_size of all dex files
}

func compile(t *testing.T, tools Tools, d Dexing, jar string) (c compiled) {
	t.Helper()
	d.Output = t.TempDir()
	text, err := tools.D8(t.Context(), d, jar)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c.messages = messages(strings.ReplaceAll(text, jar, "JAR"))
	size := ReadDexSize(t, d.Output)
	c.bytes, c.methods = size.Bytes, size.Methods
	return c
}

// messages returns the lines of what D8 or R8 printed, without what moves when calls are inserted.
func messages(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = numbers.ReplaceAllString(strings.TrimSpace(line), "N"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// surplus returns the messages that are in after more often than in before.
func surplus(before, after []string) (added []string) {
	count := map[string]int{}
	for _, text := range before {
		count[text]++
	}
	for _, text := range after {
		if count[text]--; count[text] < 0 {
			added = append(added, text)
		}
	}
	return added
}
