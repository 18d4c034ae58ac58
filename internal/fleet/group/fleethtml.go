package group

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// The page has at most 32 MB, whatever the fleet is; with common names it has 1 MB.
const (
	// mostGroups is how many groups it has, mostNames how many releases, devices and scenes each, and mostShares how many
	// of these a group has.
	mostGroups = 200
	mostNames  = 500
	mostShares = 100
	// mostLines is how many methods and calls of a stall it has, and frames of each of its stacks, mostFacts how many
	// facts, mostText how many characters of a text.
	mostLines = 20
	mostFacts = 8
	mostText  = 160
)

// fleetPage is what the page of a fleet is made of.
type fleetPage struct {
	Title  string `json:"title"`
	Status string `json:"status"`
	// Versions has the names of releases, the oldest first, Devices and Scenes those with the most users first.
	Versions []string `json:"versions"`
	Devices  []string `json:"devices"`
	Scenes   []string `json:"scenes"`
	// Releases has the shares of all stalls.
	Releases []pageShare `json:"releases"`
	Groups   []pageGroup `json:"groups"`
	// More is how many groups are left out.
	More int `json:"more"`
}

// pageShare is the number of a name, of its users, and of its stalls.
type pageShare [3]int

// pageGroup is a group of the page. Times are nanoseconds.
type pageGroup struct {
	Key    string `json:"key"`
	Method string `json:"method"`
	// Name is the method to blame; without one, what ran, or the kind of an incident.
	Name       string        `json:"name"`
	Verdict    string        `json:"verdict"`
	Users      int           `json:"users"`
	Stalls     int           `json:"stalls"`
	Recordings int           `json:"recordings"`
	Mean       time.Duration `json:"mean"`
	Median     time.Duration `json:"median"`
	P90        time.Duration `json:"p90"`
	Longest    time.Duration `json:"longest"`
	First      string        `json:"first"`
	Last       string        `json:"last"`
	Since      string        `json:"since"`
	Until      string        `json:"until"`
	Kinds      [][2]any      `json:"kinds"`
	Version    []pageShare   `json:"version"`
	Device     []pageShare   `json:"device"`
	Scene      []pageShare   `json:"scene"`
	// Cut says that there are more of these.
	Cut bool `json:"cut"`
	// These are of the longest stall.
	Place  string      `json:"place"`
	Title  string      `json:"title"`
	When   string      `json:"when"`
	Of     string      `json:"of"`
	On     string      `json:"on"`
	At     string      `json:"at"`
	Thread string      `json:"thread"`
	Facts  [][2]string `json:"facts"`
	Path   []string    `json:"path"`
	Calls  []pageCall  `json:"calls"`
	Stacks []pageStack `json:"stacks"`
}

// pageCall is the depth of calls, their method, their number, and their time.
type pageCall [4]any

// pageStack is a stack; its title says how often it was taken, and in which state of the thread.
type pageStack struct {
	Title  string   `json:"title"`
	Frames []string `json:"frames"`
}

// WriteHTML writes the groups as a page, at most top of them, 0 for all, and at most 200. The page is one file, and
// opening it makes no request.
func (f *Fleet) WriteHTML(w io.Writer, top int) error {
	if top == 0 || top > mostGroups {
		top = mostGroups
	}
	groups := f.Groups[:min(top, len(f.Groups))]
	p := fleetPage{
		Title: units.Count(f.Stalls, "stall") + " of " + units.Count(f.Users, "user"),
		Status: units.Count(f.Recordings, "recording") + ", " + units.Count(f.Nameless, "recording") + " without a user" +
			between(f.First, f.Last),
		Releases: []pageShare{}, Groups: []pageGroup{}, More: len(f.Groups) - len(groups),
	}
	var devices, scenes []Share
	for _, g := range groups {
		devices, scenes = append(devices, g.ByDevice...), append(scenes, g.ByScene...)
	}
	versions, devices, scenes := f.ByVersion[max(0, len(f.ByVersion)-mostNames):], merged(devices), merged(scenes)
	p.Versions, p.Devices, p.Scenes = namesOf(versions), namesOf(devices), namesOf(scenes)
	byVersion, byDevice, byScene := numbered(versions), numbered(devices), numbered(scenes)
	p.Releases, _ = pageShares(versions, byVersion, mostNames)
	for _, g := range groups {
		of := newPageGroup(g)
		var more [3]bool
		of.Version, more[0] = pageShares(newest(g.ByVersion), byVersion, mostShares)
		of.Device, more[1] = pageShares(g.ByDevice, byDevice, mostShares)
		of.Scene, more[2] = pageShares(g.ByScene, byScene, mostShares)
		of.Cut = slices.Contains(more[:], true)
		p.Groups = append(p.Groups, of)
	}
	return writePage(w, "fleet", p)
}

func newPageGroup(g *StallGroup) pageGroup {
	c := &g.Worst
	of := pageGroup{
		Key: cut(g.Key), Method: cut(c.Method), Verdict: cut(c.Verdict), Users: g.Users, Stalls: g.Stalls,
		Recordings: g.Recordings, Mean: g.Mean, Median: g.Median, P90: g.P90, Longest: g.Longest, First: cut(g.First),
		Last: cut(g.Last), Kinds: [][2]any{}, Place: cut(sourceOf(c)), Title: cut(c.Title),
		Of: cut(build{c.Version, c.Code, c.BuildID}.String()), On: cut(c.Device), At: cut(c.Scene), Thread: cut(c.Thread),
		Path: cutAll(c.HotPath), Facts: [][2]string{}, Calls: []pageCall{}, Stacks: []pageStack{},
	}
	for _, call := range c.Calls[:min(len(c.Calls), mostLines)] {
		of.Calls = append(of.Calls, pageCall{call.Depth, cut(call.Method), call.Count, call.Total})
	}
	for _, s := range c.Stacks {
		title := units.Count(int(s.Count), "sample") + ", " + cmp.Or(cut(s.State), "state unknown")
		of.Stacks = append(of.Stacks, pageStack{title + ", innermost frame first", cutAll(s.Frames)})
	}
	of.Name = cmp.Or(of.Method, of.Title)
	if of.Method == "" && !devicereport.IsStall(c.ReportKind) {
		of.Name = cut(c.ReportKind)
	}
	if !g.Since.IsZero() {
		of.Since, of.Until = g.Since.Format(time.DateOnly), g.Until.Format(time.DateOnly)
	}
	if when := c.When(); !when.IsZero() {
		of.When = when.Format(time.DateTime) + " UTC"
	}
	for _, kind := range slices.Sorted(maps.Keys(g.Kinds)) {
		of.Kinds = append(of.Kinds, [2]any{kind, g.Kinds[kind]})
	}
	for _, fact := range c.Facts[:min(len(c.Facts), mostFacts)] {
		of.Facts = append(of.Facts, [2]string{cut(fact.Key), cut(fact.Value)})
	}
	return of
}

// name is what the page calls a share.
func (s *Share) name() string {
	return cmp.Or(s.Device, s.Scene, build{cmp.Or(s.Version, s.Code), s.Code, s.BuildID}.String())
}

// merged adds up the shares of groups by their names, and returns those with the most users.
func merged(shares []Share) []Share {
	sums := map[string]*Share{}
	for i := range shares {
		s := &shares[i]
		if sums[s.name()] == nil {
			sums[s.name()] = &Share{Device: s.Device, Scene: s.Scene}
		}
		sums[s.name()].Users += s.Users
		sums[s.name()].Stalls += s.Stalls
	}
	var all []Share
	for _, s := range sums {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Users, a.Users), cmp.Compare(b.Stalls, a.Stalls), cmp.Compare(a.name(), b.name()))
	})
	return all[:min(len(all), mostNames)]
}

func namesOf(shares []Share) []string {
	names := make([]string, len(shares))
	for i := range shares {
		names[i] = cut(shares[i].name())
	}
	return names
}

// numbered maps the names of shares to their places.
func numbered(shares []Share) map[string]int {
	numbers := map[string]int{}
	for i := range shares {
		numbers[shares[i].name()] = i
	}
	return numbers
}

// newest returns shares of versions with the newest first.
func newest(shares []Share) []Share {
	shares = slices.Clone(shares)
	slices.Reverse(shares)
	return shares
}

// pageShares returns the first shares, and whether some are left out.
func pageShares(shares []Share, numbers map[string]int, most int) ([]pageShare, bool) {
	all := []pageShare{}
	for i := range shares {
		if number, known := numbers[shares[i].name()]; known && len(all) < most {
			all = append(all, pageShare{number, shares[i].Users, shares[i].Stalls})
		}
	}
	return all, len(all) < len(shares)
}

func cutAll(texts []string) []string {
	all := []string{}
	for _, t := range texts[:min(len(texts), mostLines)] {
		all = append(all, cut(t))
	}
	return all
}

// cut returns the begin of a text.
func cut(text string) string {
	if letters := []rune(text); len(letters) > mostText {
		return string(letters[:mostText-1]) + "…"
	}
	return text
}
