package group

import (
	"crypto/sha256"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// Digest is the SHA-256 of a recording's content.
type Digest [32]byte

// Entry is a recording that is added: its content's digest, what is said of it, and its stalls.
type Entry struct {
	// Recording is its identity.
	Recording Digest
	// Info is what is kept of it, Stalls what was slow in it. Of stalls that do not count, only that a report of them
	// does not count either is kept.
	Info   Info
	Stalls []analysis.Row
}

// Info says which build and user a recording is of.
type Info struct {
	// Version, Code and BuildID are what the program says of its build, User is its user; empty if it has none.
	Version, Code, BuildID, User string
	// ID is the ID that all parts of the recording have; empty for one of an older runtime.
	ID string
}

// NewInfo makes it of a recording that has been read.
func NewInfo(r *analysis.Recording) Info {
	b := buildOf(r)
	return Info{Version: b.version, Code: b.code, BuildID: b.id, User: r.User(), ID: r.Meta["recordingId"]}
}

// Stalls groups the stalls of many recordings and reports. The recordings are added before the reports, since a
// recording decides whether a report of one of its stalls counts. Memory grows with the number of groups, of users in
// each group, and of reports, and not with that of stalls. It is not safe for several goroutines.
type Stalls struct {
	fleet      Fleet
	recordings map[Digest]bool
	users      map[string]bool
	versions   span
	byVersion  map[build]*counted // of stalls
	groups     map[string]*grouping
	reports    map[string]bool   // IDs of the reports that were added, and of those about stalls of recordings
	byID       map[string]Digest // what stands for a recording, by the recording's ID
	spans      spans
	incidents  []incident          // of reports: a stall that comes later may cover them
	each       func(*analysis.Row) // gets each stall that counts, in tests
}

// incident is the incident of a report about a recording.
type incident struct {
	recording Digest
	row       analysis.Row
}

// NewStalls returns an empty Stalls.
func NewStalls() *Stalls {
	return &Stalls{recordings: map[Digest]bool{}, users: map[string]bool{}, groups: map[string]*grouping{},
		byVersion: map[build]*counted{}, reports: map[string]bool{}, byID: map[string]Digest{}, spans: spans{}}
}

// Has reports whether a recording of that content was added.
func (s *Stalls) Has(recording Digest) bool { return s.recordings[recording] }

// Add adds a recording. One that was added before is not counted again.
func (s *Stalls) Add(e Entry) {
	if s.Has(e.Recording) {
		return
	}
	s.addRecording(e.Recording, e.Info)
	for i := range e.Stalls {
		row := &e.Stalls[i]
		if row.ReportID != "" {
			s.reports[row.ReportID] = true
		}
		if row.NotCounted != "" {
			continue
		}
		s.spans.add(e.Info.ID, row)
		s.count(e.Recording, row)
	}
}

func (s *Stalls) addRecording(d Digest, i Info) {
	s.recordings[d] = true
	if i.ID != "" {
		s.byID[i.ID] = d
	}
	if i.User == "" {
		s.fleet.Nameless++
	}
	s.users[userOf(d, i.User)] = true
	s.versions.add(build{i.Version, i.Code, i.BuildID})
}

// AddReport adds a stall that a device has reported, which must have a ReportID. A report that was added before is not
// counted again, nor is one of a stall that a recording has: the recording shows more of it, also whether it counts.
func (s *Stalls) AddReport(row *analysis.Row) {
	if row.NotCounted != "" || s.reports[row.ReportID] {
		return
	}
	s.reports[row.ReportID] = true
	d, known := s.byID[row.Recording]
	if !known {
		d = sha256.Sum256([]byte("recording " + row.Recording))
		s.addRecording(d, Info{Version: row.Version, Code: row.Code, BuildID: row.BuildID, User: row.User,
			ID: row.Recording})
	}
	if mayBeCovered(row) {
		kept := *row
		intern(&kept)
		s.incidents = append(s.incidents, incident{d, kept})
		return
	}
	s.spans.add(row.Recording, row)
	s.count(d, row)
}

// count adds a stall that counts to its group.
func (s *Stalls) count(d Digest, row *analysis.Row) {
	g := s.groups[row.Key]
	if g == nil {
		g = newGrouping(row.Key)
		s.groups[row.Key] = g
	}
	g.add(d, row)
	s.fleet.Stalls++
	if s.each != nil {
		s.each(row)
	}
	if b := (build{row.Version, row.Code, row.BuildID}); b != (build{}) {
		countIn(s.byVersion, b, userOf(d, row.User))
	}
}

// Groups returns the groups of all that was added. The same recordings and reports give the same result in whatever
// order they were added. Nothing can be added afterwards.
func (s *Stalls) Groups() *Fleet {
	s.spans.sort()
	for i := range s.incidents {
		if of := &s.incidents[i]; !s.spans.cover(&of.row) {
			s.count(of.recording, &of.row)
		}
	}
	s.incidents = nil
	f := &s.fleet
	f.Recordings, f.Users = len(s.recordings), len(s.users)
	f.First, f.Last = s.versions.first.String(), s.versions.last.String()
	f.ByVersion = byVersion(s.byVersion)
	f.Groups = rank(s.groups)
	return f
}
