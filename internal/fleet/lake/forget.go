package lake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
	"golang.org/x/sync/errgroup"
)

const (
	tombstones    = "forgotten/"
	maxTombstone  = 16 << 20
	tombstoneName = ".json"
	// clocksDiffer is how far the clocks of the machines may differ that share a store.
	clocksDiffer = 5 * time.Minute
	// atATime is how many recordings are read at a time: a bucket takes long to answer.
	atATime = 16
)

// tombstone says that reports that were received before a time, in milliseconds since 1970, are forgotten. Reports may
// be on their way into the table when it is written. It has hashes: who was forgotten shall not be found in it.
type tombstone struct {
	Users    []string `json:"users,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
	Until    int64    `json:"until"`
}

// Forgotten is what the tombstones of a store say.
type Forgotten struct {
	names           []string
	users, sessions map[string]int64 // until when, by the hash
}

// hashOf returns what stands for the ID of a user or of a session in tombstones.
func hashOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

func (f *Forgotten) add(t *tombstone) {
	for _, u := range t.Users {
		f.users[u] = max(f.users[u], t.Until)
	}
	for _, s := range t.Sessions {
		f.sessions[s] = max(f.sessions[s], t.Until)
	}
}

// Has reports whether a row is forgotten.
func (f *Forgotten) Has(r *Row) bool { return f.has(r.User, r.Session, r.Received) }

func (f *Forgotten) has(user, session *string, received int64) bool {
	return user != nil && len(f.users) > 0 && received < f.users[hashOf(*user)] ||
		session != nil && len(f.sessions) > 0 && received < f.sessions[hashOf(*session)]
}

// Forgotten reads the tombstones.
func (l *Lake) Forgotten(ctx context.Context) (*Forgotten, error) {
	f := &Forgotten{users: map[string]int64{}, sessions: map[string]int64{}}
	for o, err := range l.List(ctx, tombstones) {
		if err != nil {
			return nil, err
		}
		t, err := l.tombstone(ctx, o.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has expired meanwhile
		}
		if err != nil {
			return nil, err
		}
		f.names = append(f.names, o.Name)
		f.add(t)
	}
	slices.Sort(f.names)
	return f, nil
}

// tombstone reads a tombstone, once: it is never changed.
func (l *Lake) tombstone(ctx context.Context, name string) (*tombstone, error) {
	if t, ok := l.stones.Load(name); ok {
		return t.(*tombstone), nil
	}
	data, err := objects.Get(ctx, l.Store, name, maxTombstone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &tombstone{}
	if err := json.Unmarshal(data, t); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	l.stones.Store(name, t)
	return t, nil
}

// UntilStable calls write with what is forgotten; write leaves it out of what it writes. When more was forgotten
// meanwhile, UntilStable calls it again: [Lake.Forget] has not seen what was written then.
func (l *Lake) UntilStable(ctx context.Context, write func(*Forgotten) error) error {
	f, err := l.Forgotten(ctx)
	for err == nil {
		if err = write(f); err != nil {
			break
		}
		known := f.names
		if f, err = l.Forgotten(ctx); err == nil && slices.Equal(known, f.names) {
			return nil
		}
	}
	return err
}

// Removed is what was removed.
type Removed struct {
	// Reports and Recordings are how many; a part of a recording counts as one.
	Reports, Recordings int
}

// Forget removes all reports and recordings of users and of sessions. The ID of a recording that has a user is enough
// for its reports, and the other way round.
//
// It writes a tombstone first, and then lists the files: what is written later leaves out by the tombstone what was
// received before. Where it stops, running it again completes it.
//
// A tombstone of a clock that is behind would leave in what collectors have not written yet, one of a clock that is
// ahead would remove what comes later. So it removes nothing if the clock is far from the days with data, as
// [Lake.Expire], unless trust is set.
func (l *Lake) Forget(ctx context.Context, users, sessions []string, trust bool) (Removed, error) {
	done := Removed{}
	now := l.Now()
	found, err := l.days(ctx, func(string, time.Time) {})
	if err == nil && !trust {
		err = checkClock(dayOf(now), found, "forget")
	}
	if err != nil {
		return done, err
	}
	t := &tombstone{Until: now.Add(clocksDiffer).UnixMilli()}
	who := &Forgotten{users: map[string]int64{}, sessions: map[string]int64{}}
	for _, u := range users {
		t.Users = append(t.Users, hashOf(u), hashOf(resolve.Printable(u)))
	}
	for _, s := range sessions {
		t.Sessions = append(t.Sessions, hashOf(s))
	}
	who.add(t)
	text, err := json.Marshal(t)
	if err != nil {
		return done, err
	}
	if err := l.Put(ctx, tombstones+NewName(now)+tombstoneName, text); err != nil {
		return done, err
	}
	recordings, err := l.recordings(ctx, who)
	if err != nil {
		return done, err
	}
	if done.Reports, err = l.forgetReports(ctx, who, recordings); err != nil {
		return done, err
	}
	for o, err := range l.List(ctx, Recordings) {
		if err != nil {
			return done, err
		}
		if recordings[recordingOf(o.Name)] {
			if err := l.Remove(ctx, o.Name); err != nil {
				return done, err
			}
			done.Recordings++
		}
	}
	return done, nil
}

// recordings returns the IDs of the recordings of who.
func (l *Lake) recordings(ctx context.Context, who *Forgotten) (map[string]bool, error) {
	found := map[string]bool{}
	var mu sync.Mutex // guards found
	requests, ctx := errgroup.WithContext(ctx)
	requests.SetLimit(atATime)
	for o, err := range l.List(ctx, Recordings) {
		if err != nil {
			return nil, errors.Join(requests.Wait(), err)
		}
		requests.Go(func() error {
			meta, damage, err := l.meta(ctx, o.Name)
			if err != nil {
				return err
			}
			if damage != nil {
				l.Warn(fmt.Errorf("%s cannot be read, and stays unless a report says whose it is: %w", o.Name, damage))
			}
			mu.Lock()
			defer mu.Unlock()
			if user := (&analysis.Recording{Meta: meta}).User(); who.has(known(user), known(meta["session"]), 0) {
				found[recordingOf(o.Name)] = true
			}
			return nil
		})
	}
	return found, requests.Wait()
}

// forgetReports removes rows of who and of recordings, and adds the recordings of the former to these.
func (l *Lake) forgetReports(ctx context.Context, who *Forgotten, recordings map[string]bool) (removed int, err error) {
	var files []File
	for f, err := range l.Files(ctx, Reports) {
		if err != nil {
			return 0, err
		}
		files = append(files, f)
	}
	for _, f := range files {
		found := 0
		err := read(ctx, l, f.Name, func(of *origin) error {
			if who.has(of.User, of.Session, 0) {
				recordings[of.Recording] = true
			}
			if recordings[of.Recording] {
				found++
			}
			return nil
		})
		if err == nil && found > 0 {
			err = l.replace(ctx, []File{f}, forgotten, func(r *Row) bool { return recordings[r.Recording] })
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // who has removed it has read the tombstone
		}
		if err != nil {
			return removed, err
		}
		removed += found
	}
	return removed, nil
}

// meta returns the facts of a recording, which are at its begin. damage says why they cannot be read, err why the
// store cannot.
func (l *Lake) meta(ctx context.Context, name string) (facts map[string]string, damage, err error) {
	in, err := l.Store.Read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // it has expired meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	watched := &failing{Reader: in}
	s, err := source.New(watched)
	if err != nil || s.Reader() == nil {
		return nil, cmp.Or(err, trace.ErrFormat), watched.err
	}
	c, err := s.Reader().Next()
	if m, ok := c.(*trace.Meta); ok {
		return m.Values, nil, nil
	}
	return nil, err, watched.err
}

// failing keeps the error of a reader.
type failing struct {
	io.Reader
	err error
}

// Read reads.
func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// recordingOf returns the ID of a recording by the name of a part.
func recordingOf(name string) string {
	id, _, _ := strings.Cut(path.Base(name), ".")
	return id
}
