package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/oracle"
)

// TestCollectInBucket sends the same reports and recordings to a collector with a directory and to two with a bucket,
// and groups them.
//
// Invariant: A store in a bucket has what one in a directory has, however many collectors write it.
func TestCollectInBucket(t *testing.T) {
	server := oracle.StartObjectStore(t)
	for _, variable := range server.Env() {
		key, value, _ := strings.Cut(variable, "=")
		t.Setenv(key, value)
	}
	dir := t.TempDir()
	mappings := filepath.Join(dir, "mappings")
	if err := os.Mkdir(mappings, 0o700); err != nil {
		t.Fatal(err)
	}
	digests, load := writeMappings(t, mappings)
	recording, err := os.ReadFile("../../trace/testdata/vectors/every.tgd")
	if err != nil {
		t.Fatal(err)
	}
	location := "s3://" + server.Bucket + "/app"
	one := startCollect(t, "--store", filepath.Join(dir, "collected"), "--mapping", mappings)
	two := []*collector{
		startCollect(t, "--store", location, "--wal", filepath.Join(dir, "a"), "--mapping", mappings),
		startCollect(t, "--store", location, "--wal", filepath.Join(dir, "b"), "--mapping", mappings, "--no-maintenance"),
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for i, c := range two {
		body := randomReports(rnd, 200, digests, load)
		for _, to := range []*collector{one, c} {
			to.send(t, "POST", "/v1/reports", body)
			to.send(t, "PUT", "/v1/recordings/ab12/"+string(rune('1'+i)), recording)
		}
	}
	one.stop(t)
	for _, c := range two {
		c.stop(t)
	}
	want := readGroups(t, filepath.Join(dir, "collected"), "--mapping", mappings, "--force")
	got := readGroups(t, location, "--mapping", mappings, "--force")
	if want.Stalls < 200 || want.Recordings < 30 {
		t.Errorf("%d stalls of %d recordings", want.Stalls, want.Recordings)
	}
	for _, groups := range [][]*group.StallGroup{want.Groups, got.Groups} {
		for _, g := range groups {
			g.Worst.Recording = strings.Replace(g.Worst.Recording, filepath.Join(dir, "collected"), location, 1)
			g.Worst.Title = strings.Replace(g.Worst.Title, filepath.Join(dir, "collected"), location, 1)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the bucket differs from the directory:\n%s", d)
	}
	var errs strings.Builder
	if code := runTool(t.Context(), []string{"collect", "forget", "--user", "ann", "--store", location + "s"},
		strings.NewReader(""), io.Discard, &errs); code != cli.ExitFailed ||
		!strings.Contains(errs.String(), "no collector") {
		t.Errorf("another prefix: exit code %d, %s", code, &errs)
	}
}
