package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// minAPIs are the oldest versions of Android that are compiled for. From 24 on, D8 leaves default and static methods of
// interfaces as they are; the runtime has none.
var minAPIs = []int{21, 26}

// TestCorpusD8 compiles the sample with its runtime, and the runtime alone, with D8. It compares the calls in the dex
// files with those of the class files.
//
// Invariant: D8 compiles the runtime and an instrumented app for Android 5.0 without a warning, and every call is in
// the dex file with its ID.
func TestCorpusD8(t *testing.T) {
	nightly.Only(t, "tools")
	s := build(t)
	_, methods := oracle.Disassemble(t, []oracle.LinkJob{{ID: "app", Jar: s.jar}}, oracle.AsmOptions{})
	want := calls{}
	for _, m := range methods {
		for _, id := range m.EntryIDs {
			want[fmt.Sprint("i ", id)]++
		}
		for _, id := range m.ExitIDs {
			// o(Object, int) of the runtime passes on an ID that is no constant.
			if id >= 0 {
				want[fmt.Sprint("o ", id)]++
			}
		}
	}
	// Phone.onCreate is traced, too.
	if len(want) != 2*(len(sampleCalls)+1) {
		t.Fatalf("ASM sees the calls %v, want those of %d methods", want, len(sampleCalls)+1)
	}
	for _, tools := range versions(t) {
		for _, api := range minAPIs {
			t.Run(fmt.Sprintf("%s for API %d", tools.Version, api), func(t *testing.T) {
				app := tools.dex(t, s, api, s.jar)
				if !want.equal(app.calls) {
					t.Errorf("dexdump sees the calls\n%v\nASM sees\n%v", app.calls, want)
				}
				if api != minAPIs[0] {
					return
				}
				for k, what := range []string{"core", "core and Android part", "core, Android part and reports"} {
					runtime := tools.dex(t, s, api, s.phone[:k+1]...)
					t.Logf("measured: dex of %s: %d classes, %d methods, %.1f KiB", what, runtime.classes,
						runtime.methods, kib(runtime.size))
				}
			})
		}
	}
}

func kib(bytes int64) float64 { return float64(bytes) / 1024 }

// calls counts the calls of AppMethodBeat by name and ID: "i 4711".
type calls map[string]int

func (c calls) equal(other calls) bool {
	for call, n := range c {
		if other[call] != n {
			return false
		}
	}
	return len(c) == len(other)
}

// A dex is what dexdump reports about dex files.
type dex struct {
	classes, methods int
	size             int64
	calls            calls
}

// dex compiles jars, checks that D8 prints nothing, and reads the result.
func (t Tools) dex(test *testing.T, s sample, api int, jars ...string) dex {
	test.Helper()
	out := filepath.Join(test.TempDir(), "dex")
	text, err := t.D8(test.Context(), Dexing{MinAPI: api, Library: s.library, Output: out}, jars...)
	if err != nil {
		test.Fatal(err)
	}
	if text != "" {
		test.Errorf("D8 printed:\n%s", text)
	}
	return readDex(test, out)
}

var (
	// dexCall matches a call of the runtime: the register with the ID, and the method.
	dexCall = regexp.MustCompile(
		`invoke-static(?:/range)? \{(v\d+)\}, Ldev/tracegen/runtime/AppMethodBeat;\.([io]):\(I\)V`)
	// dexMove matches a copy of a register: to and from.
	dexMove = regexp.MustCompile(`: move(?:/from16|/16)? (v\d+), (v\d+)`)
	// dexConstant matches a load of a constant: whether its digits are the upper half, the register, and the digits.
	// dexdump shows most IDs as numbers with a point before them.
	dexConstant = regexp.MustCompile(`: const(?:/4|/16|(/high16))? (v\d+), #.* // #([0-9a-f]+)$`)
)

// readDex reads the dex files of a directory with dexdump. The ID of a call is the constant that was last written to
// its register in the same method.
func readDex(t *testing.T, dir string) dex {
	t.Helper()
	dexdump, err := exec.LookPath("dexdump")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no dexdump on PATH: %w", oracle.ErrMissing))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.dex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d dex files, %v", dir, len(files), err)
	}
	d := dex{calls: calls{}}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		d.size += info.Size()
		constants := map[string]string{}
		inRuntime := false
		for line := range strings.Lines(command(t, dexdump, "-d", file)) {
			switch {
			case strings.Contains(line, "  Class descriptor  :"):
				d.classes++
				inRuntime = strings.Contains(line, "Ldev/tracegen/") || strings.Contains(line, "Lcom/tencent/matrix/")
			case strings.Contains(line, "|["):
				d.methods++
				clear(constants)
			}
			if m := dexConstant.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				id, err := strconv.ParseUint(m[3], 16, 32)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if m[1] != "" {
					id <<= 16
				}
				constants[m[2]] = strconv.FormatUint(id, 10)
			}
			if m := dexMove.FindStringSubmatch(line); m != nil {
				constants[m[1]] = constants[m[2]]
			}
			if m := dexCall.FindStringSubmatch(line); m != nil && !inRuntime {
				d.calls[m[2]+" "+constants[m[1]]]++
			}
		}
	}
	return d
}
