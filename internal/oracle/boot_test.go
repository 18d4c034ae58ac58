package oracle

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestLinkBoot verifies classes of the JVM's own java.base, unchanged and with a fault.
func TestLinkBoot(t *testing.T) {
	nightly.Only(t, "classes")
	j, err := FindJDK(17)
	Require(t, err)
	names := []string{"java/util/HashMap.class", "java/lang/Thread.class", "java/io/File.class"}
	dir := t.TempDir()
	for _, n := range names {
		// The classes are read from the runtime image by the only tool that every JDK has: java itself.
		if err := dumpClass(t, j, dir, n); err != nil {
			t.Fatal(err)
		}
	}
	jar := filepath.Join(t.TempDir(), "base.jar")
	f, err := os.Create(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]LinkStatus{"": Linked, "none": Linked, "stack": LinkFailed} {
		in := jar
		if fault != "" {
			in = plant(t.Context(), t, jar, fault)
		}
		results, err := LinkBoot(t.Context(), j, []LinkJob{{ID: "base", Jar: in}})
		Require(t, err)
		if len(results) != len(names) {
			t.Fatalf("fault %q: %d results, want %d", fault, len(results), len(names))
		}
		for _, r := range results {
			if r.Status != want || !slices.Contains(names, r.Entry) {
				t.Errorf("fault %q: %+v, want %s", fault, r, want)
			}
		}
	}
	// The ordinary loaders may not define these classes, and must report that instead of a result.
	results, err := Link(t.Context(), j, []LinkJob{{ID: "base", Jar: jar}})
	Require(t, err)
	for _, r := range results {
		if r.Status != LinkOfBoot {
			t.Errorf("%s: %s, want %s", r.Entry, r.Status, LinkOfBoot)
		}
	}
}

const dumper = `
public class Dump {
	public static void main(String[] a) throws Exception {
		try (java.io.InputStream in = Object.class.getResourceAsStream("/" + a[0])) { in.transferTo(System.out); }
		System.out.flush();
	}
}
`

func dumpClass(t *testing.T, j JDK, dir, name string) error {
	t.Helper()
	src := filepath.Join(t.TempDir(), "Dump.java")
	if err := os.WriteFile(src, []byte(dumper), 0o644); err != nil {
		return err
	}
	out, err := exec.Command(j.Tool("java"), src, name).Output()
	if err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, out, 0o644)
}

// TestSecondOpinions runs the JDK's javap, which does not work in batches.
func TestSecondOpinions(t *testing.T) {
	jar := compileShapes(t, "17")
	z, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	in, err := z.Open("Shapes.class")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Shapes.class")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := Javap(t.Context(), file)
	Require(t, err)
	for _, want := range []string{"major version: 61", "StackMapTable", "int guarded(java.lang.Object)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output of javap lacks %q", want)
		}
	}
}

func TestVerifyClassFiles(t *testing.T) {
	nightly.Only(t, "classes")
	jar := compileShapes(t, "17")
	for fault, want := range map[string]string{"none": "", "stack": "stack", "frame": "frame"} {
		results, err := VerifyClassFiles(t.Context(), []LinkJob{{ID: "x", Jar: plant(t.Context(), t, jar, fault)}})
		if errors.Is(err, ErrMissing) {
			// Unlike all other tools, a JDK this new may be missing in CI.
			t.Skipf("skipped: %v", err)
		}
		Require(t, err)
		var found []string
		for _, r := range results {
			found = appendIf(found, r.Error != "", strings.ToLower(r.Error))
		}
		wantPart(t, fault, found, want)
	}
}
