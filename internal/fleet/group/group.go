package group

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"
	"unique"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// StallGroup is all stalls with one hot path.
type StallGroup struct {
	// Key is what they have in common.
	Key string `json:"key"`
	// Stalls, Recordings and Users are how many there are. A recording without a user counts as one.
	Stalls     int `json:"stalls"`
	Recordings int `json:"recordings"`
	Users      int `json:"users"`
	// Total is how long all took, Mean, Median, P90 and Longest one; Median and P90 are right to 0.1 %.
	Total   time.Duration `json:"totalNanos"`
	Mean    time.Duration `json:"meanNanos"`
	Median  time.Duration `json:"medianNanos"`
	P90     time.Duration `json:"p90Nanos"`
	Longest time.Duration `json:"longestNanos"`
	// Score is Users times Mean in seconds: what groups are ranked by.
	Score float64 `json:"score"`
	// First and Last are the oldest and the newest version that it was seen in; empty if no stall has one. Versions is
	// how many there are.
	First    string `json:"firstVersion,omitempty"`
	Last     string `json:"lastVersion,omitempty"`
	Versions int    `json:"versions"`
	// ByVersion has the versions that it was seen in, the oldest first, ByDevice and ByScene the devices and scenes, those
	// with the most users first; stalls that do not name them are left out.
	ByVersion []Share `json:"byVersion,omitempty"`
	ByDevice  []Share `json:"byDevice,omitempty"`
	ByScene   []Share `json:"byScene,omitempty"`
	// Since and Until are when the first and the last stall began; zero if no stall has a time.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Kinds is how many stalls were slow for what.
	Kinds map[analysis.Kind]int `json:"kinds"`
	// Worst is the longest stall: its hot path, words and recording stand for the group.
	Worst analysis.Row `json:"worst"`
}

// Share is the stalls of a group, or of all, in one version, on one kind of device, or in one scene.
type Share struct {
	// Version, Code and BuildID are the version's name and code, and the ID of the build, Device the name of the device,
	// Scene that of the scene.
	Version string `json:"version,omitempty"`
	Code    string `json:"code,omitempty"`
	BuildID string `json:"buildId,omitempty"`
	Device  string `json:"device,omitempty"`
	Scene   string `json:"scene,omitempty"`
	// Stalls and Users are how many there are.
	Stalls int `json:"stalls"`
	Users  int `json:"users"`
}

// counted counts stalls and users.
type counted struct {
	stalls int
	users  map[string]bool
}

// countIn counts a stall of a user under a key.
func countIn[K comparable](counts map[K]*counted, key K, user string) {
	c := counts[key]
	if c == nil {
		c = &counted{users: map[string]bool{}}
		counts[key] = c
	}
	c.stalls++
	c.users[user] = true
}

// Fleet is what many recordings and reports sum up to.
type Fleet struct {
	// Recordings, Users and Stalls are how many there are. Nameless is how many recordings have no user: each
	// counts as one.
	Recordings int `json:"recordings"`
	Users      int `json:"users"`
	Stalls     int `json:"stalls"`
	Nameless   int `json:"recordingsWithoutUser"`
	// First and Last are the oldest and the newest version.
	First string `json:"firstVersion,omitempty"`
	Last  string `json:"lastVersion,omitempty"`
	// ByVersion has the versions of all stalls, as those of a group.
	ByVersion []Share `json:"byVersion,omitempty"`
	// Groups are ranked: the one with the greatest Score first.
	Groups []*StallGroup `json:"groups"`
}

// rank returns the groups, the one with the greatest score first.
func rank(groups map[string]*grouping) []*StallGroup {
	list := make([]*StallGroup, 0, len(groups))
	for _, g := range groups {
		list = append(list, g.end())
	}
	slices.SortFunc(list, func(a, b *StallGroup) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return list
}

// userOf identifies a user: a recording without a user is one of its own.
func userOf(d Digest, user string) string {
	if user == "" {
		return "\x00" + string(d[:])
	}
	return user
}

// span is from the oldest build to the newest of those that have a name.
type span struct {
	first, last build
	any         bool
}

func (s *span) add(b build) {
	if b == (build{}) {
		return
	}
	if !s.any || compareBuilds(b, s.first) < 0 {
		s.first = b
	}
	if !s.any || compareBuilds(b, s.last) > 0 {
		s.last = b
	}
	s.any = true
}

// grouping is a group that is being made.
type grouping struct {
	StallGroup
	users      map[string]bool
	recordings map[Digest]bool
	versions   map[build]*counted
	devices    map[string]*counted
	scenes     map[string]*counted
	span       span
	walls      map[int]int // stalls by the logarithm of their time
	worstOf    Digest      // the recording of the worst stall
}

// before reports whether a stall comes before the worst one, which took as long: by content, so that the order in
// which recordings were added does not matter.
func (g *grouping) before(d Digest, c *analysis.Row) bool {
	return cmp.Or(bytes.Compare(d[:], g.worstOf[:]), cmp.Compare(c.Number, g.Worst.Number),
		cmp.Compare(c.ReportID, g.Worst.ReportID)) < 0
}

func newGrouping(key string) *grouping {
	return &grouping{StallGroup: StallGroup{Key: key, Kinds: map[analysis.Kind]int{}}, users: map[string]bool{},
		recordings: map[Digest]bool{},
		versions:   map[build]*counted{}, devices: map[string]*counted{}, scenes: map[string]*counted{},
		walls: map[int]int{}}
}

// wallStep is the ratio of neighbouring classes of times: their middle is at most 0.1 % off.
const wallStep = 1.002

func (g *grouping) add(d Digest, c *analysis.Row) {
	g.Stalls++
	g.users[userOf(d, c.User)] = true
	g.recordings[d] = true
	g.Kinds[c.Kind]++
	wall := time.Duration(c.Wall)
	g.Total += wall
	g.walls[int(math.Floor(math.Log(max(1, float64(c.Wall)))/math.Log(wallStep)))]++
	if wall > g.Longest || g.Stalls == 1 || wall == g.Longest && g.before(d, c) {
		g.Longest, g.Worst, g.worstOf = wall, *c, d
		intern(&g.Worst)
	}
	if b := (build{c.Version, c.Code, c.BuildID}); b != (build{}) {
		countIn(g.versions, b, userOf(d, c.User))
		g.span.add(b)
	}
	if c.Device != "" {
		countIn(g.devices, c.Device, userOf(d, c.User))
	}
	if c.Scene != "" {
		countIn(g.scenes, c.Scene, userOf(d, c.User))
	}
	if t := c.When(); !t.IsZero() {
		if g.Since.IsZero() || t.Before(g.Since) {
			g.Since = t
		}
		if t.After(g.Until) {
			g.Until = t
		}
	}
}

// What a row has that is kept.
const (
	mostStacks  = 4
	stackFrames = 32
)

// intern shortens a row that is kept: its different stacks become the first ones, and frames and names of calls are
// shared with other rows.
func intern(c *analysis.Row) {
	var stacks []devicereport.Sample
	for _, s := range c.Stacks {
		s.Frames = s.Frames[:min(len(s.Frames), stackFrames)]
		same := func(o devicereport.Sample) bool { return slices.Equal(o.Frames, s.Frames) }
		if k := slices.IndexFunc(stacks, same); k >= 0 {
			stacks[k].Count += s.Count
		} else if len(stacks) < mostStacks {
			s.Frames = shared(s.Frames)
			stacks = append(stacks, s)
		}
	}
	c.Stacks, c.Stack, c.Calls = stacks, shared(c.Stack), slices.Clone(c.Calls)
	for i := range c.Calls {
		c.Calls[i].Method = unique.Make(c.Calls[i].Method).Value()
	}
}

func shared(texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = unique.Make(text).Value()
	}
	return texts
}

func (g *grouping) end() *StallGroup {
	g.Users, g.Recordings, g.Versions = len(g.users), len(g.recordings), len(g.versions)
	g.First, g.Last = g.span.first.String(), g.span.last.String()
	g.Mean = g.Total / time.Duration(g.Stalls)
	g.Median, g.P90 = g.quantile(0.5), g.quantile(0.9)
	g.Score = float64(g.Users) * g.Mean.Seconds()
	g.ByVersion = byVersion(g.versions)
	g.ByDevice = byUsers(g.devices, func(s *Share, device string) { s.Device = device })
	g.ByScene = byUsers(g.scenes, func(s *Share, scene string) { s.Scene = scene })
	return &g.StallGroup
}

// byVersion returns the shares of versions, the oldest first.
func byVersion(versions map[build]*counted) []Share {
	var all []Share
	for b, c := range versions {
		all = append(all, Share{Version: b.version, Code: b.code, BuildID: b.id, Stalls: c.stalls, Users: len(c.users)})
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(compareBuilds(build{a.Version, a.Code, a.BuildID}, build{b.Version, b.Code, b.BuildID}),
			cmp.Compare(a.Code, b.Code))
	})
	return all
}

// byUsers returns the shares of what name sets, those with the most users first.
func byUsers(counts map[string]*counted, name func(*Share, string)) []Share {
	var all []Share
	for text, c := range counts {
		share := Share{Stalls: c.stalls, Users: len(c.users)}
		name(&share, text)
		all = append(all, share)
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Users, a.Users), cmp.Compare(b.Stalls, a.Stalls), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Scene, b.Scene))
	})
	return all
}

// quantile returns the time that the share q of the stalls does not pass, at most the longest.
func (g *grouping) quantile(q float64) time.Duration {
	classes := make([]int, 0, len(g.walls))
	for c := range g.walls {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	left := int(math.Ceil(q * float64(g.Stalls)))
	for _, c := range classes {
		if left -= g.walls[c]; left <= 0 {
			return min(time.Duration(math.Pow(wallStep, float64(c)+0.5)), g.Longest)
		}
	}
	return g.Longest
}
