package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

var errKilled = errors.New("killed")

// steps is a store whose requests are counted. At one of them, something happens: before it, or after it and before its
// answer. It may be the end of the process: that request and all later ones fail.
type steps struct {
	objects.Store
	mu    sync.Mutex
	count int
	at    int // the step; -1 for none
	after bool
	then  func() (killed bool)
	later int // how many requests a process that is killed does before
	dying bool
	over  bool
}

// step does a request, or not.
func (s *steps) step(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.count == s.at
	s.count++
	if now && !s.after {
		s.dying = s.then()
	}
	if s.over = s.over || s.dying && s.later == 0; s.over {
		return errKilled
	}
	if s.dying {
		s.later--
	}
	err := do()
	if now && s.after {
		if s.over = s.then(); s.over {
			return errKilled
		}
	}
	return err
}

func (s *steps) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	var all []objects.Object
	err := s.step(func() error {
		for o, err := range s.Store.List(ctx, prefix) {
			if err != nil {
				return err
			}
			all = append(all, o)
		}
		return nil
	})
	return func(yield func(objects.Object, error) bool) {
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(objects.Object{}, err)
		}
	}
}

func (s *steps) Read(ctx context.Context, name string) (in io.ReadCloser, err error) {
	err = s.step(func() error {
		var err error
		in, err = s.Store.Read(ctx, name)
		return err
	})
	return in, err
}

func (s *steps) Put(ctx context.Context, name string, data []byte) error {
	return s.step(func() error { return s.Store.Put(ctx, name, data) })
}

func (s *steps) PutFile(ctx context.Context, name, file string) error {
	return s.step(func() error { return s.Store.PutFile(ctx, name, file) })
}

func (s *steps) Remove(ctx context.Context, name string) error {
	return s.step(func() error { return s.Store.Remove(ctx, name) })
}

// life is a store with what was acknowledged and what was forgotten.
type life struct {
	testing.TB
	raw   objects.Store
	log   string
	logs  []string // of more collectors
	clock *clock
	next  int
	want  map[string]string // reports that were answered with 200: of which user
	gone  map[string]bool   // users that were forgotten
	parts map[string]bool   // recordings that were stored
}

// locations are a directory and, if there is a server, a bucket; each time another one.
func locations(t *testing.T) map[string]func() string {
	n := 0
	found := map[string]func() string{"directory": func() string { return t.TempDir() }}
	if err := oracle.FindObjectStore(); err == nil || os.Getenv("CI") != "" {
		server := oracle.StartObjectStore(t)
		for _, variable := range server.Env() {
			key, value, _ := strings.Cut(variable, "=")
			t.Setenv(key, value)
		}
		found["bucket"] = func() string { n++; return fmt.Sprintf("s3://%s/store%d", server.Bucket, n) }
	}
	return found
}

func newLife(t testing.TB, location string) *life {
	t.Helper()
	raw, err := objects.Open(location)
	if err != nil {
		t.Fatal(err)
	}
	c := newClock()
	now := time.Now().Truncate(24 * time.Hour).Add(12 * time.Hour)
	c.now.Store(&now)
	return &life{TB: t, raw: raw, log: filepath.Join(t.TempDir(), "log"), clock: c, want: map[string]string{},
		gone: map[string]bool{}, parts: map[string]bool{}}
}

// table returns the lake, without a collector.
func (l *life) table(store objects.Store) *lake.Lake {
	return &lake.Lake{Store: store, Now: l.clock.read, Temp: l.TempDir(),
		Warn: func(err error) { l.Errorf("warning: %v", err) }}
}

// collector opens a collector with a log.
func (l *life) collector(store objects.Store, log string) (*Store, error) {
	s, err := open(&lake.Lake{Store: store}, Options{Log: log, Every: 24 * time.Hour, NoMaintenance: true,
		Now: l.clock.read, Warn: func(err error) {
			if !errors.Is(err, errKilled) {
				l.Errorf("warning: %v", err)
			}
		}})
	if s != nil {
		s.closeTime = time.Hour
	}
	return s, err
}

// collect receives reports of two apps and three users, and a recording of one; the collector writes them when it ends.
func (l *life) collect(store objects.Store) error {
	s, err := l.collector(store, l.log)
	if err != nil {
		return err
	}
	return errors.Join(l.receive(s), s.Close(), l.over(s))
}

// over returns errKilled if a collector did not write all.
func (l *life) over(s *Store) error {
	if s.Unfinished() {
		return errKilled
	}
	return nil
}

func (l *life) receive(s *Store) error {
	for _, app := range []string{"com.a", "com.b"} {
		var reports []Accepted
		for _, user := range []string{"ann", "bob", "eve"} {
			l.next++
			id := fmt.Sprintf("%04x-s1-0", l.next)
			text := strings.ReplaceAll(line(id, app, "ab"), `"ann"`, `"`+user+`"`)
			reports = append(reports, Accepted{id, app, "ab", text})
		}
		if _, err := s.Add(reports); err != nil {
			return err
		}
		for _, r := range reports {
			_, user, _ := strings.Cut(r.Line, `"user":"`)
			l.want[r.ID] = user[:3]
		}
	}
	p := Part{Package: "com.a", Recording: fmt.Sprintf("%04x", l.next), Number: 1}
	err := s.AddRecording(p, bytes.NewReader(recordingBytes(l)))
	if err == nil {
		l.parts[p.file()] = true
	}
	return err
}

func (l *life) compact(store objects.Store) error {
	_, err := l.table(store).Compact(l.Context(), 2)
	return err
}

// forget forgets ann; what was received may not come again. What is received minutes later stays.
func (l *life) forget(store objects.Store) error {
	_, err := l.table(store).Forget(l.Context(), []string{"ann"}, nil, false)
	if err == nil {
		for id, user := range l.want {
			if user == "ann" {
				l.gone[id] = true
				delete(l.want, id)
			}
		}
		later := l.clock.read().Add(10 * time.Minute)
		l.clock.now.Store(&later)
	}
	return err
}

func (l *life) expire(store objects.Store) error {
	_, err := l.table(store).Expire(l.Context(), 30, false)
	return err
}

// check compares the table with what was acknowledged. once also wants each report once, without a view that counts it
// once.
func (l *life) check(what string, once bool) {
	l.Helper()
	table := l.table(l.raw)
	found := map[string]int{}
	for f, err := range table.Files(l.Context(), lake.Reports) {
		if err == nil {
			err = table.Read(l.Context(), f.Name, func(r *lake.Row) error { found[r.ID]++; return nil })
		}
		if err != nil {
			l.Fatalf("%s: %v", what, err)
		}
	}
	for id := range l.want {
		if found[id] == 0 || once && found[id] > 1 {
			l.Errorf("%s: report %s of %s is there %d times", what, id, l.want[id], found[id])
		}
	}
	for id, n := range found {
		switch {
		case l.gone[id]:
			l.Errorf("%s: report %s was forgotten, and is there %d times", what, id, n)
		case l.want[id] == "":
			l.Errorf("%s: report %s was never acknowledged", what, id)
		}
	}
	for o, err := range l.raw.List(l.Context(), lake.Recordings) {
		if err != nil {
			l.Fatal(err)
		}
		delete(l.parts, o.Name)
	}
	if len(l.parts) > 0 {
		l.Errorf("%s: recordings %v are lost", what, l.parts)
	}
}

// restart is what happens after any kill: a collector starts on each log and stops, and an hour later maintenance runs.
func (l *life) restart() {
	l.Helper()
	for _, log := range append(l.logs, l.log) {
		s, err := l.collector(l.raw, log)
		if err == nil {
			err = errors.Join(s.Close(), l.over(s))
		}
		if err != nil {
			l.Fatal(err)
		}
	}
	if err := l.compact(l.raw); err != nil {
		l.Fatal(err)
	}
}

// TestKilledAtEachStep ends the process at each request to the store, before or after it is done, while reports and
// recordings are received and written, files are merged, a user is forgotten, and what is old expires. What did not end
// is done again.
//
// Invariant: Whenever a collector, a merge, an expiry or forgetting is killed, nothing that was acknowledged is lost,
// no report counts twice, and nothing that was forgotten comes back.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: the processes are stopped one after the other")
	}
	all := nightly.Runs("commands") // else some of the steps
	for name, location := range locations(t) {
		t.Run(name, func(t *testing.T) {
			kills := 0
			for k, over := 0, false; !over; k++ {
				for _, after := range []bool{false, true} {
					if !all && k%31 != 7 {
						continue
					}
					l := newLife(t, location())
					store := &steps{Store: l.raw, at: k, after: after, then: func() bool { return true }}
					over = true
					for i, do := range []func(objects.Store) error{l.collect, l.collect, l.day, l.compact, l.collect,
						l.forget, l.collect, l.day, l.compact, l.expire, l.collect} {
						err := do(store)
						if err != nil && !store.over {
							t.Fatalf("step %d, action %d: %v", k, i, err)
						}
						if store.over {
							kills, over = kills+1, false
							store = &steps{Store: l.raw, at: -1}
							if l.restart(); do(store) != nil {
								t.Fatalf("step %d, action %d, again", k, i)
							}
						}
					}
					if l.check(fmt.Sprint("step ", k, after), false); t.Failed() {
						return
					}
					if errors.Join(l.day(nil), l.compact(l.raw)) != nil {
						t.Fatal("maintenance")
					}
					l.check(fmt.Sprint("merged, step ", k, after), true)
				}
				if k > 1000 {
					t.Fatal("no end")
				}
			}
			t.Logf("%d kills", kills)
		})
	}
}

// day lets a day pass.
func (l *life) day(objects.Store) error { l.clock.addDays(1); return nil }

// TestTwoAtATime has one process do something at each step of another one, which goes on or is killed some steps later.
//
// Invariant: Collectors, merges and forgetting may run at the same time on one store.
func TestTwoAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: the processes are stopped one after the other")
	}
	all := nightly.Runs("commands")
	for name, location := range locations(t) {
		t.Run(name, func(t *testing.T) {
			runs, kills := 0, 0
			actions := map[string]func(*life, objects.Store) error{"collect": (*life).another, "compact": (*life).compact,
				"forget": (*life).forget}
			for first, one := range actions {
				for second, other := range actions {
					for k, over := 0, false; !over; k++ {
						for later := range 4 {
							killed := later < 3
							if !all && (k%31 != 7 || later%3 != 0) {
								continue
							}
							l := newLife(t, location())
							if err := errors.Join(l.collect(l.raw), l.collect(l.raw), l.day(nil), l.collect(l.raw)); err != nil {
								t.Fatal(err)
							}
							var during error
							store := &steps{Store: l.raw, at: k, later: later, then: func() bool {
								during = other(l, l.raw)
								return killed
							}}
							err := one(l, store)
							over = store.count <= k
							if runs++; store.over {
								kills++
							}
							what := fmt.Sprintf("%s during %s, step %d, killed %v %d steps later", second, first, k, killed, later)
							if during != nil || err != nil && !store.over {
								t.Fatalf("%s: %v, %v", what, err, during)
							}
							if !store.over {
								l.check(what, false)
							}
							if store.over && first == "forget" {
								during = l.forget(l.raw)
							}
							l.restart()
							l.check(what+", an hour later", false)
							if err := errors.Join(during, l.day(nil), l.compact(l.raw)); err != nil {
								t.Fatal(err)
							}
							if l.check(what+", a day later", true); t.Failed() {
								return
							}
						}
					}
				}
			}
			t.Logf("%d runs, %d kills", runs, kills)
		})
	}
}

// another is a collector with a log of its own.
func (l *life) another(store objects.Store) error {
	l.logs = append(l.logs, fmt.Sprint(l.log, len(l.logs)))
	s, err := l.collector(store, l.logs[len(l.logs)-1])
	if err != nil {
		return err
	}
	return errors.Join(l.receive(s), s.Close(), l.over(s))
}
