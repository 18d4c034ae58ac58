package runtimejars_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// builtWith is the release of the JDK whose compiler makes the bytes of the files.
const builtWith = 17

// TestFilesComeFromTheSources builds runtime-java in a temporary folder and compares the result with the files of this
// package, entry by entry. Compressed bytes are not compared: they depend on the zlib of the JDK.
//
// Invariant: The embedded runtime is what its sources in the repository make.
func TestFilesComeFromTheSources(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the runtime with Maven, which takes half a minute")
	}
	home := needJDK(t)
	out := t.TempDir()
	oracle.Require(t, oracle.MakeRuntime(t.Context(), t.TempDir(), out, home))
	for _, f := range append(runtimejars.All(), runtimejars.Agent()) {
		built := fixture.Read(t, filepath.Join(out, f.Name))
		compare(t, f.Name, f.Data, built)
	}
}

// needJDK returns the home of a JDK of the release. Without one, it skips the test. If CI is set, it fails, unless the
// package manager has none either, as that of Debian 13: the test then runs on another machine.
func needJDK(t *testing.T) string {
	t.Helper()
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	for _, j := range jdks {
		if j.Feature == builtWith {
			return j.Home
		}
	}
	name := fmt.Sprintf("openjdk-%d-jdk-headless", builtWith)
	if known, err := exec.Command("apt-cache", "policy", name).Output(); err == nil && os.Getenv("CI") != "" &&
		strings.Contains(string(known), "Candidate: "+fmt.Sprint(builtWith)) {
		t.Fatalf("no JDK %d, which %s has", builtWith, name)
	}
	t.Skipf("skipped: no JDK %d; the compiler of another release makes other bytes", builtWith)
	return ""
}

// compare compares two archives, and the archives in them.
func compare(t *testing.T, name string, committed, built []byte) {
	t.Helper()
	have, want := entries(t, name, committed), entries(t, name, built)
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) || have[i].Name != want[i].Name {
			t.Errorf("%s: entries %d differ: the repository has %s, the sources make %s; run make runtime", name, i,
				nameOf(have, i), nameOf(want, i))
			return
		}
		a, b := content(t, have[i]), content(t, want[i])
		switch {
		case path.Ext(have[i].Name) == ".jar":
			compare(t, name+"!"+have[i].Name, a, b)
		case !bytes.Equal(a, b):
			t.Errorf("%s!%s is not what the sources make: %d bytes, want %d; run make runtime", name, have[i].Name,
				len(a), len(b))
		}
		if !have[i].Modified.Equal(want[i].Modified) || have[i].Mode() != want[i].Mode() ||
			have[i].Method != want[i].Method {
			t.Errorf("%s!%s: time %v, mode %v, method %d; the sources make %v, %v, %d", name, have[i].Name,
				have[i].Modified, have[i].Mode(), have[i].Method, want[i].Modified, want[i].Mode(), want[i].Method)
		}
	}
}

func nameOf(entries []*zip.File, i int) string {
	if i >= len(entries) {
		return "no entry"
	}
	return entries[i].Name
}

func entries(t *testing.T, name string, data []byte) []*zip.File {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.File
}

func content(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return data
}

// TestFilesNameNoBuild checks what a build on another machine, or at another time, would change.
func TestFilesNameNoBuild(t *testing.T) {
	for _, f := range append(runtimejars.All(), runtimejars.Agent()) {
		for _, e := range entries(t, f.Name, f.Data) {
			if y := e.Modified.Format("2006-01-02 15:04:05"); y != "2026-01-01 00:00:00" {
				t.Errorf("%s!%s: time %s", f.Name, e.Name, y)
			}
			if path.Base(e.Name) != "MANIFEST.MF" {
				continue
			}
			if text := string(content(t, e)); strings.Contains(text, "Created-By") || strings.Contains(text, "Jdk") {
				t.Errorf("%s!%s names the build:\n%s", f.Name, e.Name, text)
			}
		}
	}
}

// TestAndroidLibrary checks the parts that Android's build tools need of an .aar.
func TestAndroidLibrary(t *testing.T) {
	files := map[string][]byte{}
	for _, e := range entries(t, runtimejars.AndroidName, file(t, runtimejars.AndroidName)) {
		files[e.Name] = content(t, e)
	}
	if m := string(files["AndroidManifest.xml"]); !strings.Contains(m, `package="dev.tracegen.runtime.android"`) ||
		!strings.Contains(m, `android:minSdkVersion="21"`) {
		t.Errorf("AndroidManifest.xml:\n%s", m)
	}
	if r, ok := files["R.txt"]; !ok || len(r) > 0 {
		t.Errorf("R.txt: there %v, %q", ok, r)
	}
	inside := map[string][]byte{}
	for _, e := range entries(t, "classes.jar", files["classes.jar"]) {
		inside[e.Name] = content(t, e)
	}
	if inside["dev/tracegen/runtime/android/TracegenRuntime.class"] == nil {
		t.Error("classes.jar lacks TracegenRuntime")
	}
	rules := string(files["proguard.txt"])
	if rules == "" || rules != string(inside["META-INF/proguard/tracegen-runtime-android.pro"]) {
		t.Errorf("proguard.txt is not the rules of classes.jar:\n%s", rules)
	}
}

// TestOnlyAJVMHasManagement checks the classes that the jar for Android apps lacks.
//
// Invariant: An Android app carries no class that only a JVM needs, and none that sends reports unless it asks for it.
func TestOnlyAJVMHasManagement(t *testing.T) {
	jvm := names(t, runtimejars.JVMName)
	core := names(t, runtimejars.CoreName)
	for _, name := range core {
		if !slices.Contains(jvm, name) {
			t.Errorf("%s lacks %s", runtimejars.JVMName, name)
		}
		if strings.Contains(name, "Jvm") || strings.Contains(name, "/report/") {
			t.Errorf("%s contains %s", runtimejars.CoreName, name)
		}
	}
	if !slices.Contains(jvm, "dev/tracegen/runtime/JvmPlatform$Management.class") {
		t.Error("the jar for JVMs has no class that reads the management beans: this test sees nothing")
	}
}

// names returns the names of the entries of a file of the runtime.
func names(t *testing.T, name string) []string {
	t.Helper()
	var list []string
	for _, e := range entries(t, name, file(t, name)) {
		list = append(list, e.Name)
	}
	return list
}

// file returns the data of a file of the runtime.
func file(t *testing.T, name string) []byte {
	t.Helper()
	for _, f := range runtimejars.All() {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("there is no file %s", name)
	return nil
}

func TestIsRuntime(t *testing.T) {
	for _, f := range runtimejars.All() {
		if !runtimejars.IsRuntime(f.Data) {
			t.Errorf("%s is not taken for a file of the runtime", f.Name)
		}
	}
	other := fixture.Zip(t, "AndroidManifest.xml", "", "com/tencent/matrix/trace/core/AppMethodBeat.class", "")
	for _, data := range [][]byte{nil, []byte("text"), other} {
		if runtimejars.IsRuntime(data) {
			t.Errorf("%d bytes are taken for a file of the runtime", len(data))
		}
	}
}
