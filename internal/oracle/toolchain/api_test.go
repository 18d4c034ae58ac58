package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const (
	// signatures lists every public class, method and field of Android 5.0, as its android.jar had them. The list of
	// gummy-bears has also what D8 replaces, such as String.join; the runtime does without.
	signatures    = "net.sf.androidscents.signature:android-api-level-21:signature:5.0.1_r2"
	signaturesSum = "479854cb9d63fe1603a8421a84e9b9466cf5e4309c07e1cfcfcde3e6906fe146"
	sniffer       = "org.codehaus.mojo:animal-sniffer:1.24"
	snifferSum    = "65d028de87134f0955e3a964fe438fc3e99e77b237a77e5e165869a8ff59db5f"
	snifferASM    = "org.ow2.asm:asm:9.9"
	snifferASMSum = "03d99a74ad1ee5c71334ef67437f4ef4fe3488caa7c96d8645abc73c8e2017d4"
)

// TestCorpusAPI21 compares every use of a class, method or field in the runtime with the list of what Android 5.0 has.
// Members are looked up with their descriptors, so that a changed return type is found. The jar for JVMs, and a jar
// with uses of newer API, prove that they are found.
//
// Invariant: The runtime refers to no class, method or field that Android 5.0 lacks, except by reflection.
func TestCorpusAPI21(t *testing.T) {
	nightly.Only(t, "tools")
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	dir := t.TempDir()
	checker := newAPIChecker(t, j, filepath.Join(dir, "checker"))

	const own = "dev.tracegen.runtime,dev.tracegen.runtime.*"
	uses, classes := checker.check(t, own, append(jars.App(), jars.Matrix, jars.NoOp)...)
	for _, use := range uses {
		t.Errorf("newer than API 21: %s", use)
	}
	uses, _ = checker.check(t, own, jars.JVM)
	if !slices.ContainsFunc(uses, func(use string) bool { return strings.Contains(use, "java.lang.management.") }) {
		t.Error("the use of java.lang.management in the jar for JVMs is not found")
	}
	t.Logf("measured: %d classes of the runtime against the API of Android 5.0", classes)

	newer := filepath.Join(dir, "newer")
	oracle.Javac(t, j, newer, nil, withNames, filepath.Join("testdata", "newer"))
	jar := filepath.Join(dir, "newer.jar")
	command(t, j.Tool("jar"), "cf", jar, "-C", newer, ".")
	uses, _ = checker.check(t, "none", jar)
	for _, want := range []string{
		"Newer.class:11: Undefined reference: String String.join(",
		"Newer.class:15: Undefined reference: Object java.util.Map.getOrDefault(",
		"Newer.class:19: Undefined reference: int Long.hashCode(long)",
		"Newer.class:23: Undefined reference: java.util.concurrent.ConcurrentHashMap.KeySetView ",
		"Newer.class:27: Undefined reference: java.time.Instant",
	} {
		if !slices.ContainsFunc(uses, func(use string) bool { return strings.HasPrefix(use, want) }) {
			t.Errorf("not found: %s\n%s", want, strings.Join(uses, "\n"))
		}
	}
	if i := slices.IndexFunc(uses, func(use string) bool { return strings.HasPrefix(use, "Newer.class:3") }); i >= 0 {
		t.Errorf("found, although API 21 has it: %s", uses[i])
	}
}

// An apiChecker runs animal-sniffer, with the program in testdata/api.
type apiChecker struct {
	java             string
	path, signatures string
}

func newAPIChecker(t *testing.T, j oracle.JDK, out string) apiChecker {
	t.Helper()
	c := apiChecker{java: j.Tool("java")}
	path := []string{out}
	for _, a := range []struct{ name, sum string }{{sniffer, snifferSum}, {snifferASM, snifferASMSum}} {
		jar, err := oracle.FetchSum(t.Context(), a.name, a.sum)
		oracle.Require(t, err)
		path = append(path, jar)
	}
	var err error
	c.signatures, err = oracle.FetchSum(t.Context(), signatures, signaturesSum)
	oracle.Require(t, err)
	oracle.Javac(t, j, out, path[1:], withNames, filepath.Join("testdata", "api"))
	c.path = strings.Join(path, string(os.PathListSeparator))
	return c
}

// check returns the uses of what is neither in Android 5.0 nor in packages to ignore, as "file:line: Undefined
// reference: what", and the number of classes.
func (c apiChecker) check(t *testing.T, ignored string, jars ...string) (uses []string, classes int) {
	t.Helper()
	out := command(t, c.java, append([]string{"-cp", c.path, "Check", c.signatures, ignored}, jars...)...)
	for line := range strings.Lines(out) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch what {
		case "use":
			uses = append(uses, rest)
		case "checked":
			var err error
			if classes, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		default:
			t.Fatalf("the checker printed %s", line)
		}
	}
	if classes == 0 {
		t.Fatalf("no class was checked:\n%s", out)
	}
	return uses, classes
}
