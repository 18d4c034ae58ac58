package runtimejars_test

import (
	"path"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// What may use the native library, which an app adds by choice.
const (
	nativeLibrary = "dev/tracegen/runtime/detector/NativeLibrary"
	nativeUsers   = " dev/tracegen/runtime/detector/NativeQuit dev/tracegen/runtime/detector/TouchSource$Hook "
)

// TestNothingNative checks every file that the program embeds.
//
// Invariant: The embedded runtime contains no native library. One class loads the one that an app may add, and only
// the two detectors that need it use that class.
func TestNothingNative(t *testing.T) {
	loads := 0
	for _, f := range runtimejars.All() {
		loads += checkNothingNative(t, f.Name, f.Data)
	}
	if loads == 0 {
		t.Error("no class loads a library: this test sees nothing")
	}
}

// checkNothingNative checks an archive and those in it. It returns how many classes load a library.
func checkNothingNative(t *testing.T, name string, data []byte) (loads int) {
	t.Helper()
	for _, e := range entries(t, name, data) {
		if path.Ext(e.Name) == ".so" || strings.HasPrefix(e.Name, "jni/") || strings.HasPrefix(e.Name, "lib/") {
			t.Errorf("%s contains %s", name, e.Name)
		}
		switch path.Ext(e.Name) {
		case ".jar":
			loads += checkNothingNative(t, name+"!"+e.Name, content(t, e))
		case ".class":
			c, err := classfile.Parse(content(t, e))
			if err != nil {
				t.Fatalf("%s!%s: %v", name, e.Name, err)
			}
			loads += checkClass(t, name, c)
		}
	}
	return loads
}

func checkClass(t *testing.T, archive string, c *classfile.Class) (loads int) {
	t.Helper()
	if c.Name() == nativeLibrary {
		loads++
	}
	for _, m := range c.Methods() {
		if m.AccessFlags&0x0100 != 0 && c.Name() != nativeLibrary {
			t.Errorf("%s: %s.%s is native", archive, c.Name(), m.Name)
		}
	}
	// The runnables of NativeQuit are classes of their own.
	outer := strings.TrimRight(c.Name(), "$0123456789")
	pool := c.ConstantPool()
	for i := 1; i < pool.Len(); i++ {
		if pool.Tag(uint16(i)) != classfile.TagMethodref {
			continue
		}
		ref, err := pool.Ref(uint16(i))
		if err != nil {
			t.Fatalf("%s: %s: %v", archive, c.Name(), err)
		}
		system := ref.Class == "java/lang/System" || ref.Class == "java/lang/Runtime"
		if system && strings.HasPrefix(ref.Name, "load") && c.Name() != nativeLibrary {
			t.Errorf("%s: %s calls %s.%s", archive, c.Name(), ref.Class, ref.Name)
		}
		if ref.Class == nativeLibrary && c.Name() != nativeLibrary &&
			!strings.Contains(nativeUsers, " "+outer+" ") {
			t.Errorf("%s: %s calls %s.%s", archive, c.Name(), ref.Class, ref.Name)
		}
	}
	return loads
}
