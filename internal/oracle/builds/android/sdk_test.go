package android_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestStandIn looks for classes of Android and of Java in android.jar, once each, and for aapt2.
func TestStandIn(t *testing.T) {
	nightly.Only(t, "android-apps")
	dir := android.StandIn(t)
	have := map[string]int{}
	for _, e := range fixture.Unpack(t, fixture.Read(t, filepath.Join(dir, "platforms", "android-29", "android.jar"))) {
		have[e.Name]++
	}
	for _, name := range []string{"android/app/Activity.class", "java/lang/Object.class", "java/util/Map$Entry.class"} {
		if have[name] != 1 {
			t.Errorf("android.jar has %s %d times", name, have[name])
		}
	}
	// Java 9 added it.
	if have["java/lang/ProcessHandle.class"] != 0 {
		t.Error("android.jar has a class that Java 8 lacks")
	}
	if info, err := os.Stat(filepath.Join(dir, "aapt2")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("aapt2 is not executable: %v, %v", info, err)
	}
}
