package incremental

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// testArchive returns an archive with a script in front, entries in more than one part, and a comment.
func testArchive(t *testing.T, entries int) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("#!/bin/sh\n")
	w := zip.NewWriter(&b)
	w.SetOffset(int64(b.Len()))
	for n := range entries {
		e, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("a/C%d.class", n), Method: uint16(n % 2 * 8)})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(e, "content of %d", n)
	}
	if err := w.SetComment("comment"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveSums returns the hash of an archive in memory, and those of its entries.
func archiveSums(t *testing.T, data []byte, workers int) (cache.Key, []classID, bool) {
	t.Helper()
	a, err := zipfile.New("a.jar", data)
	if err != nil {
		return cache.Key{}, nil, false
	}
	sum, ids, err := sumArchive(context.Background(), a, workers)
	if err != nil {
		t.Fatal(err)
	}
	return sum, ids, true
}

// TestArchiveSum changes each byte of an archive.
//
// Invariant: Archives of the same hash are the same, byte for byte; so are entries of the same hash, as they are
// compressed. No number of workers changes a hash.
func TestArchiveSum(t *testing.T) {
	data := testArchive(t, entriesPerPart+3)
	sum, ids, ok := archiveSums(t, data, 1)
	if !ok || len(ids) != entriesPerPart+3 {
		t.Fatalf("no archive with all entries, but %d", len(ids))
	}
	if again, _, _ := archiveSums(t, data, 4); again != sum {
		t.Error("the hash depends on the number of workers")
	}
	a, err := zipfile.New("a.jar", data)
	if err != nil {
		t.Fatal(err)
	}
	// Where a change is of the data of an entry, by offset; -1 elsewhere.
	owner := bytes.Repeat([]byte{0}, len(data))
	for n := range a.Entries() {
		e := &a.Entries()[n]
		for at := e.DataStart(); at < e.DataEnd(); at++ {
			owner[at] = 1
		}
	}
	seen := map[cache.Key]int{sum: -1}
	inData, elsewhere := 0, 0
	for at := 0; at < len(data); at += 1 + at%4 {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		sum, ids2, ok := archiveSums(t, changed, 2)
		if !ok {
			continue // it is hashed as bytes
		}
		if other, found := seen[sum]; found {
			t.Errorf("a change at %d has the hash of one at %d", at, other)
		}
		seen[sum] = at
		differ := 0
		for n := range ids2 {
			if ids2[n] != ids[n] {
				differ++
			}
		}
		if owner[at] == 1 {
			if inData++; differ != 1 {
				t.Errorf("a change of the data of an entry, at %d, changes the hashes of %d", at, differ)
			}
		} else {
			elsewhere++
		}
	}
	// What the central directory says of an entry is part of its hash: the same data may mean something else.
	record := bytes.Index(data, []byte("PK\x01\x02"))
	for _, field := range []int{9, 10, 16, 24} { // flags, method, CRC, size
		changed := bytes.Clone(data)
		changed[record+field] ^= 2
		if _, other, ok := archiveSums(t, changed, 1); !ok || other[0] == ids[0] || other[1] != ids[1] {
			t.Errorf("the hash of an entry does not depend on the field at %d alone", field)
		}
	}
	if inData == 0 || elsewhere == 0 {
		t.Errorf("%d changes in data and %d elsewhere were hashed", inData, elsewhere)
	}
}

// TestArchiveSumOfParts moves bytes from one place of an archive to another that is hashed beside it.
//
// Invariant: What lies between entries is not taken for an entry, nor for what is in front of another one.
func TestArchiveSumOfParts(t *testing.T) {
	sums := make(map[cache.Key]string)
	add := func(what string, data []byte) {
		t.Helper()
		sum, _, ok := archiveSums(t, data, 1)
		if !ok {
			t.Fatalf("%s is no archive", what)
		}
		if other, found := sums[sum]; found {
			t.Errorf("%s has the hash of %s", what, other)
		}
		sums[sum] = what
	}
	one := testArchive(t, 1)
	add("one entry", one)
	add("no entry", testArchive(t, 0))
	add("bytes in front", append([]byte("x"), one...))
	add("bytes behind", append(bytes.Clone(one), 'x'))
	add("two entries", testArchive(t, 2))
	add("a full part", testArchive(t, entriesPerPart))
	add("a full part and one entry", testArchive(t, entriesPerPart+1))
}

// TestBytesBetween hashes bytes between entries in one piece and in two.
//
// Invariant: The hash of a part depends on where the data of entries lie.
func TestBytesBetween(t *testing.T) {
	a, err := zipfile.New("a.jar", testArchive(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	one, two := newPartSum(a, nil), newPartSum(a, nil)
	one.between(0, 10)
	two.between(0, 4)
	two.between(4, 10)
	if bytes.Equal(one.of.Sum(nil), two.of.Sum(nil)) {
		t.Error("two pieces have the hash of one")
	}
}

// sumsOfParts returns what the hash of an archive is made of, if its entries are in one part.
func sumsOfParts(t *testing.T, data []byte) []byte {
	t.Helper()
	a, err := zipfile.New("a.jar", data)
	if err != nil {
		t.Fatal(err)
	}
	s := newPartSum(a, make([]classID, len(a.Entries())))
	var order []int
	for n := range a.Entries() {
		order = append(order, n)
	}
	entries := s.sum(0, order)
	behind := s.sum(a.Entries()[len(order)-1].DataEnd(), nil)
	return append(entries[:], behind[:]...)
}

// hashOf hashes one file with what is known of others, and closes it.
func hashOf(t *testing.T, path string, kind sumKind, known *knownFiles) hashed {
	t.Helper()
	results, err := hashPaths(context.Background(), []hashing{{path, kind}}, 4, known)
	if err != nil {
		t.Fatal(err)
	}
	closeHashed(results)
	return results[0]
}

// TestSumKinds hashes files as archives and as bytes.
//
// Invariant: A file has another hash as an archive than as bytes, and each is used only where it was asked for. What is
// no archive, or one whose entries overlap, is hashed as bytes.
func TestSumKinds(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := testArchive(t, 2)
	known := &knownFiles{byPath: make(map[filePath]knownFile)}
	path := write("a.jar", data)
	plain, archive := hashOf(t, path, plainSum, known), hashOf(t, path, archiveSum, known)
	if !plain.ok || !archive.ok || plain.key == archive.key {
		t.Error("an archive has the same hash as bytes")
	}
	for range 2 { // they are known now
		if hashOf(t, path, plainSum, known).key != plain.key || hashOf(t, path, archiveSum, known).key != archive.key {
			t.Error("a hash of the other kind was taken")
		}
	}
	// A file may have been made of the hashes that the hash of an archive is made of.
	if made := hashOf(t, write("made.jar", sumsOfParts(t, data)), archiveSum, known); made.key == archive.key {
		t.Error("a file that is no archive has the hash of one")
	}
	// The second entry begins where the first does.
	overlapping := bytes.Clone(data)
	last := bytes.LastIndex(overlapping, []byte("PK\x01\x02"))
	copy(overlapping[last+42:], overlapping[bytes.Index(overlapping, []byte("PK\x01\x02"))+42:][:4])
	if _, err := zipfile.New("overlapping.jar", overlapping); err == nil {
		t.Fatal("entries may overlap")
	}
	for name, data := range map[string][]byte{"overlapping.jar": overlapping, "text.jar": []byte("text"),
		"empty.jar": {}} {
		path := write(name, data)
		got := hashOf(t, path, archiveSum, known)
		if !got.ok || got.key != hashOf(t, path, plainSum, known).key || got.ids != nil {
			t.Errorf("%s is not hashed as bytes", name)
		}
	}
}

// TestClockShowsChange asks the file system's clock about files.
//
// Invariant: A file of the time that the clock shows, or of another file system, is not trusted to show its next
// change.
func TestClockShowsChange(t *testing.T) {
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	before, _ := stateOf(path)
	var clock fileClock
	for end := time.Now().Add(5 * time.Second); !clock.shows(before); clock = readClock(store) {
		if time.Now().After(end) {
			t.Skip("the clock of the file system cannot be read here, or stands still")
		}
	}
	if err := os.WriteFile(path, []byte("y"), 0o666); err != nil {
		t.Fatal(err)
	}
	after, _ := stateOf(path)
	if after.same(before) {
		t.Error("a change that the clock shows does not show")
	}
	if clock.shows(after) {
		t.Error("a file that was written since the clock was read is trusted")
	}
	at := before
	if at.modified = clock.shown; clock.shows(at) {
		t.Error("a file of the time that the clock shows is trusted")
	}
	other := before
	if other.id.Device++; clock.shows(other) {
		t.Error("a file of another file system is trusted")
	}
	if (fileClock{}).shows(before) {
		t.Error("a clock that could not be read shows something")
	}
	if left, err := filepath.Glob(filepath.Join(store.Dir(), "*", "clock*")); err != nil || len(left) > 0 {
		t.Errorf("reading the clock left %q (%v)", left, err)
	}
}
