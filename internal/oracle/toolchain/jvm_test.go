package toolchain

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusShrunkJVM shrinks a program for a JVM that was instrumented, with the runtime that instrument writes beside
// it, by R8 and by ProGuard. Neither has classes of Android.
//
// Invariant: Off Android, R8 and ProGuard need no rules but those in the runtime's jars.
func TestCorpusShrunkJVM(t *testing.T) {
	nightly.Only(t, "tools")
	j := oracle.NeedJDK(t, 17)
	tool, dir := oracle.BuildTool(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	oracle.Javac(t, j, file("classes"), nil, withNames, filepath.Join("testdata", "shop"))
	command(t, tool, "instrument", "-q", file("classes"), "-o", file("app.jar"), "--mapping", file("methods.txt"),
		"--set", "trivial=none", "--target", "jvm")
	runtime, rules := file("tracegen-runtime.jar"), []string{filepath.Join("testdata", "shop.pro")}
	check := func(t *testing.T, jar, r8 string) {
		t.Helper()
		recording := jar + ".tgd"
		out, err := exec.CommandContext(t.Context(), j.Tool("java"), "-Dtracegen.output="+recording,
			"-Dtracegen.threads=all", "-cp", jar, "shop.Main").CombinedOutput()
		if string(out) != "31\n" || err != nil {
			t.Errorf("it prints %q: %v", out, err)
		}
		var d decoded
		text := command(t, tool, "analyze", recording, "--mapping", file("methods.txt"), "--r8-mapping", r8, "--format",
			"json", "--top", "0")
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		calls := map[string]int{}
		for _, m := range d.Methods {
			calls[m.Method.String()] = m.Calls
		}
		for name, want := range map[string]int{"shop.Main.main": 1, "shop.Main$Cart.total": 1, "shop.Main$Cart.add": 5} {
			if calls[name] != want {
				t.Errorf("%d calls of %s in the recording, want %d: %v", calls[name], name, want, calls)
			}
		}
	}
	shrinkers := map[string]func(t *testing.T, out string, jars ...string) (mapping string, err error){}
	for _, tools := range versions(t) {
		shrinkers["R8 "+tools.Version] = func(t *testing.T, out string, jars ...string) (string, error) {
			_, err := tools.R8(t.Context(), Shrinking{Library: j.Home, Rules: rules, Output: out, Mapping: out + ".txt"},
				jars...)
			return out + ".txt", err
		}
	}
	shrinkers["ProGuard"] = func(t *testing.T, out string, jars ...string) (string, error) {
		p := oracle.FindProGuard(t, j)
		all := slices.Clone(rules)
		inside := func(name string) bool { return strings.HasSuffix(name, ".pro") }
		for _, jar := range jars {
			if err := oracle.EachEntry(jar, inside, func(name string, text []byte) error {
				all = append(all, filepath.Join(t.TempDir(), path.Base(name)))
				return os.WriteFile(all[len(all)-1], text, 0o666)
			}); err != nil {
				return "", err
			}
		}
		return out + ".txt", p.Shrink(t.Context(), out, out+".txt", all, jars...)
	}
	command(t, j.Tool("jar"), "cf", file("plain.jar"), "-C", file("classes"), ".")
	command(t, tool, "runtime", "-o", file("runtime"))
	for name, shrink := range shrinkers {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "shrunk.jar")
			mapping, err := shrink(t, out, file("app.jar"), runtime)
			if err != nil {
				t.Fatal(err)
			}
			check(t, out, mapping)
		})
		t.Run(name+" with the no-op", func(t *testing.T) {
			_, err := shrink(t, filepath.Join(t.TempDir(), "shrunk.jar"), file("plain.jar"),
				filepath.Join(file("runtime"), "tracegen-runtime-noop.jar"))
			if err != nil {
				t.Error(err)
			}
		})
	}
}
