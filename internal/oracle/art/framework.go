package art

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// Framework is what an app is compiled against and the bench lacks: Android 11's classes for apps, whose methods throw
// a NullPointerException. The verifier needs no more of them.
type Framework struct {
	// Classes is a jar of class files, Dex the same as DEX files.
	Classes, Dex string
}

// frameworkPackages are the packages below android that a [Framework] has, and frameworkVersion is part of its name in
// the cache. Count it up if the content changes.
var frameworkPackages = strings.Fields("accessibilityservice accounts animation app content database graphics " +
	"location media net opengl os preference provider text transition util view webkit widget window")

const frameworkVersion = "1"

// NeedFramework returns the framework. It makes it unless the cache has it. The test cannot go on without it.
func (b *Bench) NeedFramework(t testing.TB) Framework {
	t.Helper()
	sum := sha256.Sum256([]byte(frameworkVersion + b.dirs["core"] + strings.Join(frameworkPackages, " ")))
	cache, err := oracle.CacheDir("art")
	oracle.Require(t, err)
	final := filepath.Join(cache, "stubs-"+hex.EncodeToString(sum[:6]))
	f := Framework{filepath.Join(final, "classes.jar"), filepath.Join(final, "dex.jar")}
	if exists(final) {
		return f
	}
	locked, err := lock(t.Context(), cache)
	oracle.Require(t, err)
	defer locked.Close()
	if !exists(final) {
		b.makeFramework(t, cache, final)
	}
	return f
}

func (b *Bench) makeFramework(t testing.TB, cache, final string) {
	t.Helper()
	from, err := oracle.FetchSum(t.Context(), android, androidSum)
	oracle.Require(t, err)
	tmp, err := os.MkdirTemp(cache, "stubs-")
	oracle.Require(t, err)
	defer os.RemoveAll(tmp)
	classes := fixture.Write(t, filepath.Join(tmp, "classes.jar"), stubs(t, from))
	b.D8(t, filepath.Join(tmp, "dex.jar"), classes)
	oracle.Require(t, os.Rename(tmp, final))
}

// stubs returns a jar of the classes of a framework without their code.
func stubs(t testing.TB, from string) []byte {
	t.Helper()
	var entries []fixture.Entry
	wanted := func(name string) bool {
		part := strings.SplitN(name, "/", 3)
		return len(part) == 3 && part[0] == "android" && slices.Contains(frameworkPackages, part[1]) &&
			strings.HasSuffix(name, ".class")
	}
	oracle.Require(t, oracle.EachEntry(from, wanted, func(name string, data []byte) error {
		c := assembly.Parse(t, data)
		var edit classfile.Edit
		for i, m := range c.Methods() {
			if code, ok := classfile.FindAttribute(m.Attributes, "Code"); ok {
				// max_stack 1, max_locals as it was, aconst_null, athrow, no handlers and no attributes.
				info := []byte{0, 1, code.Info[2], code.Info[3], 0, 0, 0, 2, 0x01, 0xbf, 0, 0, 0, 0}
				edit.Codes = append(edit.Codes, classfile.CodeEdit{Method: i, Info: info})
			}
		}
		data, err := c.Rewrite(edit)
		entries = append(entries, fixture.Entry{Name: name, Data: string(data)})
		return err
	}))
	return fixture.Pack(t, entries...)
}

// Library returns a jar of all class files that an app is compiled against, for R8.
func (b *Bench) Library(t testing.TB, f Framework) string {
	t.Helper()
	jar := filepath.Join(t.TempDir(), "library.jar")
	toolchain.Merge(t, jar, b.file("core", "classes.jar"), b.file("framework", "classes.jar"), f.Classes)
	return jar
}
