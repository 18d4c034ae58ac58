package incremental

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// TestFinder asks for entries in their order, out of it, and for some that are not there.
//
// Invariant: An entry of an earlier output is found by its name, wherever it lies.
func TestFinder(t *testing.T) {
	entries := []zipfile.Entry{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	for _, names := range []string{"abcd", "ad", "db", "xa", "bxa", "dcba", "axdb"} {
		f := finder{entries: entries}
		for _, c := range names {
			e := f.find(string(c))
			if c == 'x' && e != nil || c != 'x' && (e == nil || e != &entries[c-'a']) {
				t.Errorf("%s: found %v for %c", names, e, c)
			}
		}
	}
}

// TestRecallOfTwins recalls the facts of two classes in one place.
//
// Invariant: The facts of a class have the place that the class has in the input, each of several in one place too.
func TestRecallOfTwins(t *testing.T) {
	c := &input.Container{Name: "a.jar"}
	classes := []*input.Class{input.NewClass(c, "A.class", 1), input.NewClass(c, "B.class", 1),
		input.NewClass(c, "A.class", 1)}
	p := past{old: &keptFacts{Input: scan.Input{Classes: []*scan.Class{{Name: "A"}, {Name: "B"}}}}, from: []int{0, -1, 0}}
	facts := make([]*scan.Class, 3)
	if n := p.recall(facts, classes); n != 2 || facts[1] != nil {
		t.Errorf("%d classes are known: %v", n, facts)
	}
	for _, k := range []int{0, 2} {
		if facts[k].Name != "A" || facts[k].At != classes[k] {
			t.Errorf("class %d is %s in the place of another", k, facts[k].Name)
		}
	}
}

// TestIDsFromArchive takes the hashes of classes from those of an archive with other entries between them.
//
// Invariant: A class has the hash of its entry, whether the archive was hashed before or not.
func TestIDsFromArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jar")
	data := testArchive(t, 5)
	for _, n := range []byte("13") { // no classes
		name := "a/C" + string(n)
		data = bytes.ReplaceAll(data, []byte(name+".class"), []byte(name+".other"))
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	zip, err := zipfile.OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	_, entryIDs, err := sumArchive(context.Background(), zip, 1)
	if err != nil {
		t.Fatal(err)
	}
	in, err := input.FromArchive(0, zip, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := input.NewSet([]*input.Input{in})
	defer set.Close()
	m := &memory{run: Run{Workers: 1}, inputs: []knownInput{{opened: zip, entryIDs: entryIDs}}}
	taken := make([]classID, len(set.Classes))
	if len(taken) != 3 || !m.fromArchive(taken, in, &m.inputs[0]) {
		t.Fatalf("no hashes of %d classes", len(taken))
	}
	hashed, err := (&memory{run: m.run, inputs: make([]knownInput, 1)}).idsOf(context.Background(), set, 0)
	if err != nil || len(hashed) != 3 {
		t.Fatalf("%d hashes: %v", len(hashed), err)
	}
	for n := range set.Classes {
		e, err := set.Entry(n)
		if err != nil {
			t.Fatal(err)
		}
		if want := idOf(sha256.New(), e.Zip); taken[n] != want || hashed[n] != want {
			t.Errorf("class %d has another hash than its entry", n)
		}
	}
}
