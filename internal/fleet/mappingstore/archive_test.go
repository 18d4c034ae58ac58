package mappingstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/mapping"
)

// locations are an archive in a directory, and one in a bucket with the directory in which the server keeps it.
func locations(t *testing.T) map[string]struct{ location, files string } {
	dir := filepath.Join(t.TempDir(), "archive")
	found := map[string]struct{ location, files string }{"directory": {dir, dir}}
	if s := server(t); s != nil {
		found["bucket"] = struct{ location, files string }{"s3://" + s.Bucket + "/some/app", filepath.Join(s.Dir, "some",
			"app")}
	}
	return found
}

// server starts a server and sets the variables by which it is found. It returns nil if there is none and CI is not
// set.
func server(t *testing.T) *oracle.ObjectStore {
	if err := oracle.FindObjectStore(); err != nil && os.Getenv("CI") == "" {
		t.Logf("without a bucket: %v", err)
		return nil
	}
	return bucketServer(t)
}

// bucketServer does the same; it skips the test if there is no server.
func bucketServer(t *testing.T) *oracle.ObjectStore {
	s := oracle.StartObjectStore(t)
	for _, variable := range s.Env() {
		key, value, _ := strings.Cut(variable, "=")
		t.Setenv(key, value)
	}
	return s
}

// eachStore runs a test with an empty archive in a directory, and with one in a bucket. files is the directory in which
// both keep their files.
func eachStore(t *testing.T, test func(t *testing.T, a *Archive, files string)) {
	for name, at := range locations(t) {
		t.Run(name, func(t *testing.T) { test(t, open(t, at.location), at.files) })
	}
}

func open(t testing.TB, location string) *Archive {
	t.Helper()
	a, err := Open(location, func(m string) { t.Log(m) })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mappingText returns a mapping of n methods. In each generation, some of them are gone and others are new.
func mappingText(t testing.TB, n, generation int) []byte {
	t.Helper()
	return mappingTexts(t, n, generation+1)[generation]
}

// mappingTexts returns the first generations.
func mappingTexts(t testing.TB, n, generations int) (texts [][]byte) {
	t.Helper()
	var base *mapping.Mapping
	for g := range generations {
		var methods []mapping.Method
		for i := range n {
			of := 0
			if i%50 == 0 {
				of = g // two percent change each time
			}
			methods = append(methods, mapping.Method{Identity: mapping.Identity{
				Class: fmt.Sprintf("com/example/feature%d/Screen%d", i%17, i/8),
				Name:  fmt.Sprintf("method%d_%d", i%8, of), Descriptor: "(Landroid/os/Bundle;I)V"}, Access: 1})
		}
		var err error
		if base, err = mapping.Assign(methods, mapping.Options{Base: base}); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := base.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.Bytes())
	}
	return texts
}

// r8Text returns a mapping of R8 with that pg_map_id.
func r8Text(id string) []byte {
	return []byte("# compiler: R8\n# pg_map_id: " + id + "\ncom.example.Main -> a.a:\n    void run() -> a\n")
}

var begin = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// build returns the build of a version, pushed that many seconds after begin.
func build(version string, seconds int, text []byte) Build {
	return Build{Version: version, Variant: "release", Time: begin.Add(time.Duration(seconds) * time.Second),
		Files: map[Kind][]byte{Mapping: text}, Names: map[Kind]string{Mapping: "m.txt"}}
}

func push(t testing.TB, a *Archive, b Build) *Pushed {
	t.Helper()
	p, err := a.Push(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pulled returns the file of the kind of the release that the selector selects.
func pulled(a *Archive, s Selector, kind Kind) ([]byte, error) {
	ctx := context.Background()
	r, err := a.Find(ctx, s)
	if err != nil {
		return nil, err
	}
	d, err := a.Details(ctx, r)
	if err != nil {
		return nil, err
	}
	if d.File(kind) == nil {
		return nil, errors.New("no such file")
	}
	return a.Read(ctx, d.File(kind))
}

// wantMapping checks that the archive has the mapping of a version.
func wantMapping(t testing.TB, a *Archive, version string, text []byte) {
	t.Helper()
	got, err := pulled(a, Selector{Version: version}, Mapping)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("version %s: %d bytes, want %d; %v", version, len(got), len(text), err)
	}
}

func TestPushAndPull(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, files string) {
		ctx := t.Context()
		if _, err := a.List(ctx, Selector{}); !errors.Is(err, ErrNoArchive) {
			t.Errorf("without an archive: %v", err)
		}
		text := mappingText(t, 500, 0)
		b := build("1.0 (β)~/..?&%+ =", 1, text)
		b.Files[R8], b.Names[R8] = r8Text("0a1b"), "r8.txt"
		first := push(t, a, b)
		if !first.Added || first.Repaired || first.Stored == 0 || first.Size <= first.Stored || first.SameDigest != 0 {
			t.Errorf("%+v", first)
		}
		b.Time = b.Time.Add(time.Hour)
		if again := push(t, a, b); again.Added || again.Release != first.Release {
			t.Errorf("pushed again: %+v, want %+v", again, first)
		}

		// The same methods with another comment, and another version.
		other := bytes.Replace(text, []byte("\n"), []byte("\n# a comment\n"), 1)
		second := push(t, a, build("1.1", 2, other))
		if second.Release.Digest != first.Release.Digest || second.SameDigest != 1 {
			t.Errorf("%+v", second)
		}
		third := build("1.1", 3, mappingText(t, 500, 1))
		third.Variant = "debug"
		push(t, a, third)

		for _, c := range []struct {
			selector Selector
			want     string
		}{
			{Selector{}, "1.1 debug, 1.1 release, 1.0 (β)~/..?&%+ = release"},
			{Selector{Version: "1.1"}, "1.1 debug, 1.1 release"},
			{Selector{Version: "1.1", Variant: "release"}, "1.1 release"},
			{Selector{Variant: "x"}, ""},
			{Selector{Digest: first.Release.Digest}, "1.1 release, 1.0 (β)~/..?&%+ = release"},
			{Selector{Digest: first.Release.Digest[:6]}, "1.1 release, 1.0 (β)~/..?&%+ = release"},
		} {
			list, err := a.List(ctx, c.selector)
			var got []string
			for _, r := range list {
				got = append(got, r.Version+" "+r.Variant)
			}
			if err != nil || strings.Join(got, ", ") != c.want {
				t.Errorf("%v: %q, %v; want %q", c.selector, got, err, c.want)
			}
		}
		wantMapping(t, a, "1.0 (β)~/..?&%+ =", text)
		if got, err := pulled(a, Selector{Digest: first.Release.Digest}, Mapping); !bytes.Equal(got, other) {
			t.Errorf("by digest, it is not the latest: %v", err)
		}
		if got, err := pulled(a, Selector{Version: b.Version}, R8); !bytes.Equal(got, b.Files[R8]) {
			t.Errorf("R8: %q, %v", got, err)
		}
		d, err := a.Details(ctx, first.Release)
		if err != nil || len(d.Files) != 2 {
			t.Errorf("%+v, %v", d, err)
		}
		if _, err := a.Find(ctx, Selector{Version: "7"}); !errors.Is(err, ErrNone) {
			t.Errorf("no such version: %v", err)
		}
		noTemporary(t, files)
	})
}

// noTemporary checks that no temporary file is left.
func noTemporary(t *testing.T, files string) {
	t.Helper()
	for _, name := range archived(t, files) {
		if strings.HasPrefix(filepath.Base(name), ".tracegen-") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// archived returns the names of the files of an archive.
func archived(t *testing.T, files string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(files), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Invariant: Releases that are pushed to one archive at the same time are all kept.
func TestConcurrentPushes(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, files string) {
		const pushes = 12
		texts := mappingTexts(t, 200, pushes)
		var all sync.WaitGroup
		for i := range pushes {
			all.Go(func() {
				// Each is pushed by two processes.
				b := build(fmt.Sprint(i/2), i/2, texts[i/2])
				if _, err := a.Push(context.Background(), b); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range pushes / 2 {
			wantMapping(t, a, fmt.Sprint(i), texts[i])
		}
		noTemporary(t, files)
	})
}

// killed is a store whose process ends at some write: that and all later ones do nothing.
type killed struct {
	objects.Store
	left int
}

var errKilled = errors.New("killed")

func (k *killed) Put(ctx context.Context, name string, data []byte) error {
	if k.left--; k.left < 0 {
		return errKilled
	}
	return k.Store.Put(ctx, name, data)
}

// Invariant: If a push to an archive is killed, readers find the archive as it was before.
func TestKilledPush(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, _ string) {
		old, text := mappingText(t, 300, 0), mappingText(t, 300, 1)
		push(t, a, build("1", 1, old))
		for writes := range 3 {
			b := build(fmt.Sprintf("2.%d", writes), 2+writes, append(bytes.Clone(text), fmt.Sprintf("# %d\n", writes)...))
			b.Files[R8], b.Names[R8] = r8Text(fmt.Sprint(writes)), "r8.txt"
			half := *a
			half.store = &killed{a.store, writes}
			if _, err := half.Push(t.Context(), b); !errors.Is(err, errKilled) {
				t.Fatalf("%d writes: %v", writes, err)
			}
			if _, err := a.Find(t.Context(), Selector{Version: b.Version}); !errors.Is(err, ErrNone) {
				t.Errorf("%d writes: a reader finds the release: %v", writes, err)
			}
			wantMapping(t, a, "1", old)
			push(t, a, b)
			wantMapping(t, a, b.Version, b.Files[Mapping])
		}
	})
}

// TestPushRefuses checks that nothing is written if a file is not what it should be.
func TestPushRefuses(t *testing.T) {
	a := open(t, filepath.Join(t.TempDir(), "archive"))
	for name, change := range map[string]func(b *Build){
		"no mapping":   func(b *Build) { delete(b.Files, Mapping) },
		"not mapping":  func(b *Build) { b.Files[Mapping] = []byte("# tracegen-mapping 1\n") },
		"other lines":  func(b *Build) { b.Files[Lines] = []byte("# tracegen-lines 1\n") },
		"long version": func(b *Build) { b.Version = strings.Repeat("x", 200) },
	} {
		b := build("1", 0, mappingText(t, 10, 0))
		change(&b)
		if _, err := a.Push(t.Context(), b); err == nil {
			t.Errorf("%s: pushed", name)
		}
	}
	if _, err := os.Stat(a.Location()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestOtherFilesAndVersions(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, _ string) {
		text := mappingText(t, 100, 0)
		push(t, a, build("1", 0, text))
		for _, name := range []string{"releases/readme.txt", "releases/x~y.json", "releases/.tracegen-x", "objects/readme",
			"notes/x"} {
			if err := a.store.Put(t.Context(), name, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := a.List(t.Context(), Selector{}); len(list) != 1 || err != nil {
			t.Errorf("%v, %v", list, err)
		}
		if err := a.store.Put(t.Context(), markName, []byte("tracegen-archive 1\n")); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			second(a.List(t.Context(), Selector{})), second(a.Push(t.Context(), build("2", 0, text))),
		} {
			if err == nil || !strings.Contains(err.Error(), "another version") {
				t.Errorf("%v", err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestManyNames lists more releases than a bucket returns at once.
func TestManyNames(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, files string) {
		count, put := 1_200, a.store.Put
		if !objects.IsRemote(a.location) { // without a sync for each file
			count, put = 10_000, func(_ context.Context, name string, data []byte) error {
				path := filepath.Join(files, filepath.FromSlash(name))
				return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666))
			}
		}
		if err := a.store.Put(t.Context(), markName, []byte(mark)); err != nil {
			t.Fatal(err)
		}
		var group errgroup.Group
		group.SetLimit(16)
		for i := range count {
			r := Release{Digest: fmt.Sprintf("%016x", i), Version: fmt.Sprint(i), Pushed: begin.Add(time.Duration(i)),
				ID: "00112233445566aa", sum: "ffeeddccbbaa9988"}
			group.Go(func() error { return put(t.Context(), r.path(), nil) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		list, err := a.List(t.Context(), Selector{})
		if err != nil || len(list) != count {
			t.Errorf("%d releases, %v; want %d", len(list), err, count)
		}
		if list, err := a.List(t.Context(), Selector{Digest: fmt.Sprintf("%016x", 7)}); len(list) != 1 || err != nil {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestInterrupted(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, _ string) {
		text := mappingText(t, 100, 0)
		push(t, a, build("1", 0, text))
		ctx, stop := context.WithCancel(t.Context())
		list, err := a.List(ctx, Selector{})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		for what, err := range map[string]error{
			"list":    second(a.List(ctx, Selector{})),
			"push":    second(a.Push(ctx, build("2", 0, text))),
			"details": second(a.Details(ctx, list[0])),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestServerErrors checks that errors name the way out and no secret.
func TestServerErrors(t *testing.T) {
	s := bucketServer(t)
	for name, c := range map[string]struct {
		variables map[string]string
		location  string
		want      string
	}{
		"bucket": {nil, "s3://other-bucket/x", "create the bucket"},
		"secret": {map[string]string{"AWS_SECRET_ACCESS_KEY": "not the secret"}, "s3://" + s.Bucket,
			"check the credentials"},
		"key":      {map[string]string{"AWS_ACCESS_KEY_ID": "other"}, "s3://" + s.Bucket, "check the credentials"},
		"endpoint": {map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "s3://" + s.Bucket, "check the network"},
		"host":     {map[string]string{"AWS_ENDPOINT_URL": "http://host.invalid"}, "s3://" + s.Bucket, "check the network"},
		"none": {map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": t.TempDir()},
			"s3://" + s.Bucket, "no credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.variables {
				t.Setenv(key, value)
			}
			_, err := open(t, c.location).List(t.Context(), Selector{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for _, secret := range []string{s.SecretKey, "not the secret"} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("%v has the secret", err)
				}
			}
		})
	}
}

// TestWrongRelease reads releases that were made with a wrong SHA-256, size or kind, as no push makes them.
func TestWrongRelease(t *testing.T) {
	a := open(t, filepath.Join(t.TempDir(), "archive"))
	texts := mappingTexts(t, 300, 3)
	for i, text := range texts {
		push(t, a, build(fmt.Sprint(i), i, text))
	}
	r, err := a.Find(t.Context(), Selector{Version: "2"})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(m *Details){
		"SHA-256": func(m *Details) { m.Files[0].SHA256[0] ^= 1 },
		"size":    func(m *Details) { m.Files[0].Size-- },
		"kind":    func(m *Details) { m.Files[0].Kind = "other" },
		"version": func(m *Details) { m.Version = "3" },
		"format":  func(m *Details) { m.Format = 1 },
	} {
		m, err := a.Details(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		forged := r
		forged.Version = "not " + name
		m.Version = forged.Version
		change(m)
		forged.ID = m.id()
		if err := a.writeRelease(t.Context(), &forged, m); err != nil {
			t.Fatal(err)
		}
		if _, err := pulled(a, Selector{Version: forged.Version}, Mapping); !errors.As(err, new(*DamagedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPathStyle uses a server by a name. Buckets are a part of the path then, as there is no name for each of them.
func TestPathStyle(t *testing.T) {
	s := bucketServer(t)
	t.Setenv("AWS_ENDPOINT_URL", strings.Replace(s.Endpoint, "127.0.0.1", "localhost", 1))
	a := open(t, "s3://"+s.Bucket)
	text := mappingText(t, 20, 0)
	push(t, a, build("1", 1, text))
	wantMapping(t, a, "1", text)
}
