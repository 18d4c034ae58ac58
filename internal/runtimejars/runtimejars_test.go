package runtimejars_test

import (
	"archive/zip"
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

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
