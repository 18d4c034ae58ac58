package gradle_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestUnits runs the plugin's own tests, which need no build.
func TestUnits(t *testing.T) {
	nightly.Only(t, "gradle")
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no mvn on PATH to run the tests of the Gradle plugin: %w", oracle.ErrMissing))
	}
	root, err := oracle.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"pom.xml", "src"} {
		from, to := filepath.Join(root, "gradle", name), filepath.Join(dir, name)
		if name == "src" {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = copyFile(from, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), mvn, "-B", "-q", "-ntp", "test")
	cmd.Dir = dir
	fixture.Run(t, cmd)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
