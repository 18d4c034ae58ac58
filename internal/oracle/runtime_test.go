package oracle_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// TestRuntime builds the runtime, runs its own tests, and compares the files with those that the program embeds. For a
// longer run use -Dtracegen.stress=1000000000 (a thousand million records) by hand.
//
// Invariant: The runtime's own tests pass: no torn or misplaced record is accepted, overwritten records are counted,
// the clock never goes back and loses no time when it pauses, and the no-op has the surface of all other parts.
//
// Invariant: The embedded runtime is what its sources in the repository make.
func TestRuntime(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds and tests the runtime with Maven, which takes minutes")
	}
	dir, out := t.TempDir(), t.TempDir()
	home := homeOf17(t)
	var failed error
	if home == "" {
		failed = oracle.MavenRuntime(t.Context(), dir, "package")
	} else {
		failed = oracle.MakeRuntime(t.Context(), dir, out, home)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "runtime-java", "*", "target", "surefire-reports", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range reports {
		// A failed test is a line that ends with a mark, and the lines of its stack trace behind it.
		for test := range strings.SplitSeq(string(fixture.Read(t, report)), "\n\n") {
			if strings.Contains(test, "<<<") {
				t.Error(test)
			}
		}
	}
	if !t.Failed() {
		oracle.Require(t, failed)
	}
	if len(reports) < 5 {
		t.Fatalf("%d reports of tests", len(reports))
	}
	if home == "" {
		t.Skip("skipped: no JDK 17; the compiler of another release makes other bytes")
	}
	for _, f := range append(runtimejars.All(), runtimejars.Agent()) {
		built := fixture.Read(t, filepath.Join(out, f.Name))
		if diff := cmp.Diff(listing(t, f.Data), listing(t, built)); diff != "" {
			t.Errorf("%s is not what the sources make; run make runtime (-embedded +built):\n%s", f.Name, diff)
		}
	}
}

// homeOf17 returns the home of JDK 17, whose compiler makes the bytes of the files; "" if there is none. If CI is set,
// that ends the test, unless the package manager has none either, as that of Debian 13.
func homeOf17(t *testing.T) string {
	t.Helper()
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	for _, j := range jdks {
		if j.Feature == 17 {
			return j.Home
		}
	}
	known, err := exec.Command("apt-cache", "policy", "openjdk-17-jdk-headless").Output()
	if err == nil && os.Getenv("CI") != "" && strings.Contains(string(known), "Candidate: 17") {
		t.Fatal("no JDK 17, which openjdk-17-jdk-headless has")
	}
	return ""
}

// listing returns a line for each entry of an archive, and of the archives in it. It has no compressed bytes, which
// depend on the zlib of the JDK.
func listing(t *testing.T, archive []byte) string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, e := range fixture.Unpack(t, archive) {
		f := r.File[i]
		content := fmt.Sprintf("%x", sha256.Sum256([]byte(e.Data)))
		if path.Ext(e.Name) == ".jar" {
			content = "\n" + listing(t, []byte(e.Data))
		}
		fmt.Fprintln(&b, e.Name, f.Modified, f.Mode(), f.Method, content)
	}
	return b.String()
}
