package export_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// notes is what may stand behind a method.
const notes = `(  \[[^\]]* (repaired|left out|samples?[^\]]*)\])*$`

var (
	reportTitle = regexp.MustCompile(`^a\.tgd #(\d+): (?:(\S+) ms|duration not known) on (.*?), ([\d.]+) s in`)
	tableRow    = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+)[ ≥]+(\S+) ms +(\d+)  (.*?)` + notes)
	treeRow     = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+) % +(\d+)  ( *)(.*?)` + notes)
	placeBehind = regexp.MustCompile(` \([^()]+\.java(:\d+)?\)$`)
)

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func inNanos(v, unit float64) int64 { return int64(math.Round(v * unit)) }

func truthOfReport(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if m := reportTitle.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			thread := m[3]
			if rest := strings.TrimPrefix(thread, "thread "); strings.Trim(rest, "0123456789") != "" {
				thread = rest
			}
			wall := cmp.Or(m[2], "0") // not known
			all.stalls = append(all.stalls, shownStall{n, thread, inNanos(float(t, m[4]), 1e9),
				inNanos(float(t, wall), 1e6), ""})
		} else if why, ok := strings.CutPrefix(line, "  why      "); ok {
			all.stalls[len(all.stalls)-1].Verdict = why
		}
	}
	return all
}

func truthOfJSON(t *testing.T, out []byte) *shownTruth {
	type named struct{ Class, Name, Label string }
	var file struct {
		Stalls []struct {
			Number                int
			Thread                struct{ Label string }
			BeginNanos, WallNanos int64
			Verdict               struct{ Text string }
		}
		Methods []struct {
			Method     named
			TotalNanos int64
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	all := newShown()
	for _, s := range file.Stalls {
		all.stalls = append(all.stalls, shownStall{s.Number, s.Thread.Label, s.BeginNanos,
			max(s.WallNanos, 0), s.Verdict.Text}) // -1 is not known
	}
	for _, m := range file.Methods {
		name := m.Method.Label
		if name == "" {
			name = strings.TrimPrefix(m.Method.Class+"."+m.Method.Name, ".")
		}
		all.totals[name] += m.TotalNanos
	}
	return all
}

func truthOfTable(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	for line := range strings.Lines(string(out)) {
		if m := tableRow.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			all.totals[placeBehind.ReplaceAllString(m[6], "")] += inNanos(float(t, m[2]), 1e6)
		}
	}
	return all
}

func truthOfTree(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	var path []string
	for line := range strings.Lines(string(out)) {
		m := treeRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		path = path[:len(m[5])/2]
		name := placeBehind.ReplaceAllString(m[6], "")
		if !slices.Contains(path, name) {
			all.totals[name] += inNanos(float(t, m[1]), 1e6)
		}
		path = append(path, name)
	}
	return all
}

func truthOfPage(t *testing.T, out []byte) *shownTruth {
	data, calls := readPage(t, out)
	all := newShown()
	r := data.Recordings[0]
	names := map[uint32]string{}
	for _, th := range r.Threads {
		names[th.Index] = th.Name
		if th.Async {
			continue // the calls are those of threads, too
		}
		// The calls are in the order of their ends, so backwards callers come before what they call.
		path := map[int]string{}
		for _, c := range slices.Backward(calls[th.Events]) {
			var depth int
			var begin, end int64
			var marks string
			head, rest, _ := cutLast(c, " x")
			digits, name, _ := strings.Cut(head, " ")
			depth, _ = strconv.Atoi(digits)
			var count int
			if _, err := fmt.Sscanf(rest, "%d %d-%d %s", &count, &begin, &end, &marks); err != nil {
				t.Fatal(c, err)
			}
			path[depth] = name
			all.called(th.Name, begin)
			within := false
			for d := range depth {
				within = within || path[d] == name
			}
			if !within {
				all.totals[name] += end - begin
			}
		}
	}
	for _, s := range r.Stalls {
		all.stalls = append(all.stalls, shownStall{s.Number, names[s.Thread], s.Begin, s.Wall, s.Verdict})
	}
	all.frames = len(r.more.Frames)
	return all
}
