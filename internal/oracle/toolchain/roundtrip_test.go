package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// dex2jar translates dex files back to class files.
var dex2jar = []struct{ name, sum string }{
	{"de.femtopedia.dex2jar:dex-tools:2.4.38", "506e5330db25a10e210abb72f94dd8d521f475974ee5430efdd3a5726b8affe3"},
	{"de.femtopedia.dex2jar:dex-translator:2.4.38", "9bb5a7852cfc9698d130cc780513bb202a8b0c59bf8dd43c3f25cf32c587741d"},
	{"de.femtopedia.dex2jar:dex-reader-api:2.4.38", "490cac37ca090db759295eae2c279536bca7c77e8cfa3be4372210a6a4ca9d2a"},
	{"de.femtopedia.dex2jar:dex-reader:2.4.38", "177a7ddc7a9b7cc1e9a86603f93599461bc64ed8d5574b80f42391390ea9ec7d"},
	{"de.femtopedia.dex2jar:dex-ir:2.4.38", "ecac2eb44ad9393ac579d5d4e48520b485e90ab6536becdb061466fef92d9bb8"},
	{"de.femtopedia.dex2jar:d2j-base-cmd:2.4.38", "4e9ee8b7d751b6d8447313cb168c88ea14454d53d281ca7c1d9307c7f74051a4"},
	{"de.femtopedia.dex2jar:d2j-external:2.4.38", "929884e103c6897448abfe34eb9c6c0018b0443b160da87d0073976b1b3b2b67"},
	{"org.ow2.asm:asm-commons:9.10.1", "6d0abefb7cbf972ea16edb37ec14835372505063a45f976ab7ea889ed9497895"},
	{"org.ow2.asm:asm-tree:9.10.1", "3dfb0d5b6a106cd40b5b250e39935fbf2f927f4477546a5369a3ac609cf0506b"},
}

// TestCorpusRoundTrip compiles the sample with its runtime to dex files, by D8 and by R8, translates them back to class
// files with dex2jar, and runs those. So the program that runs is what the dex files say.
//
// Invariant: The dex files of an instrumented app with its runtime, translated back to classes, record every call.
func TestCorpusRoundTrip(t *testing.T) {
	nightly.Only(t, "tools")
	s := build(t)
	tool := oracle.BuildTool(t)
	back := newBackTranslator(t, s)
	for _, tools := range versions(t) {
		t.Run("D8 "+tools.Version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dex")
			if text, err := tools.D8(t.Context(), Dexing{MinAPI: minAPIs[0], Library: s.library, Output: dir},
				s.jar); err != nil || text != "" {
				t.Fatalf("D8: %v\n%s", err, text)
			}
			s.checkRecorded(t, tool, "", back.translate(t, dir))
		})
		t.Run("R8 "+tools.Version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dex")
			renamed := filepath.Join(t.TempDir(), "mapping.txt")
			text, err := tools.R8(t.Context(), Shrinking{Library: s.library, MinAPI: minAPIs[0], Output: dir, Mapping: renamed,
				Rules: []string{s.rules, filepath.Join("testdata", "plain.pro")}}, s.jar)
			if err != nil || text != "" {
				t.Fatalf("R8: %v\n%s", err, text)
			}
			d := readDex(t, dir)
			t.Logf("measured: R8: dex of the app and the runtime: %d classes, %d methods, %.1f KiB", d.classes, d.methods,
				kib(d.size))
			s.checkRecorded(t, tool, renamed, back.translate(t, dir))
		})
	}
}

// A backTranslator makes class files of dex files.
type backTranslator struct {
	jdk           oracle.JDK
	dex2jar, path string
	library       string
}

func newBackTranslator(t *testing.T, s sample) backTranslator {
	t.Helper()
	b := backTranslator{jdk: s.jdk, library: s.library}
	var jars []string
	for _, part := range dex2jar {
		jar, err := oracle.FetchSum(t.Context(), part.name, part.sum)
		oracle.Require(t, err)
		jars = append(jars, jar)
	}
	b.dex2jar = strings.Join(jars, string(os.PathListSeparator))
	asm, err := oracle.FetchSum(t.Context(), snifferASM, snifferASMSum)
	oracle.Require(t, err)
	classes := filepath.Join(t.TempDir(), "frames")
	oracle.Javac(t, b.jdk, classes, []string{asm}, withNames, filepath.Join("testdata", "frames"))
	b.path = classes + string(os.PathListSeparator) + asm
	return b
}

// translate returns a jar with the classes of the dex file in a directory.
func (b backTranslator) translate(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	raw, framed := filepath.Join(out, "raw.jar"), filepath.Join(out, "framed.jar")
	errors := filepath.Join(out, "errors.zip")
	command(t, b.jdk.Tool("java"), "-Xmx512m", "-cp", b.dex2jar, "com.googlecode.dex2jar.tools.Dex2jarCmd",
		"--debug-info", "--exception-file", errors, "--output", raw, filepath.Join(dir, "classes.dex"))
	if _, err := os.Stat(errors); err == nil {
		t.Fatal("dex2jar did not translate every method")
	}
	command(t, b.jdk.Tool("java"), "-Xmx512m", "-cp", b.path, "Frames", raw, framed, b.library)
	return framed
}
