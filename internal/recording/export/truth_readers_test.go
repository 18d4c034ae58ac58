package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// notes is what may stand behind a method.
const notes = `(  \[[^\]]* (repaired|left out)\])*$`

var (
	reportTitle  = regexp.MustCompile(`^a\.tgd #(\d+): (\S+) ms on (.*?), ([\d.]+) s in`)
	tableRow     = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+)[ ≥]+(\S+) ms +(\d+)  (.*?)` + notes)
	treeRow      = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+) % +(\d+)  ( *)(.*?)` + notes)
	placeBehind  = regexp.MustCompile(` \([^()]+\.java(:\d+)?\)$`)
	timelineKind = regexp.MustCompile(`: (messages|stalls)$`)
	stallName    = regexp.MustCompile(`^stall #(\d+): (.*)$`)
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
			all.stalls = append(all.stalls, shownStall{n, thread, inNanos(float(t, m[4]), 1e9),
				inNanos(float(t, m[2]), 1e6), ""})
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
		all.stalls = append(all.stalls, shownStall{s.Number, s.Thread.Label, s.BeginNanos, s.WallNanos, s.Verdict.Text})
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
	for _, f := range r.more.Facts {
		all.facts[f[0]] = f[1]
	}
	all.frames = len(r.more.Frames)
	return all
}

func truthOfSpeedscope(t *testing.T, out []byte) *shownTruth {
	var file struct {
		Tracegen []map[string]any
		Shared   struct {
			Frames []struct{ Name string }
		}
		Profiles []struct {
			Name   string
			Events []struct {
				Type  string
				At    int64
				Frame int
			}
		}
	}
	decodeNumbers(t, out, &file)
	all := newShown()
	all.facts = texts(file.Tracegen[0])
	for _, p := range file.Profiles {
		thread, kind, _ := cutLast(p.Name, " of ")
		kind = timelineKind.FindString(kind)
		var open stack
		for _, e := range p.Events {
			name := file.Shared.Frames[e.Frame].Name
			switch {
			case kind == ": messages":
			case kind == "" && e.Type == "O":
				all.called(thread, e.At)
				open.enter(withoutMarks(name), e.At)
			case kind == "":
				open.leave(all, e.At)
			case e.Type == "O":
				m := stallName.FindStringSubmatch(name)
				n, _ := strconv.Atoi(m[1])
				all.stalls = append(all.stalls, shownStall{n, thread, e.At, e.At, m[2]})
			default:
				s := &all.stalls[len(all.stalls)-1]
				s.Wall = e.At - s.Begin
			}
		}
	}
	return all
}

// decodeNumbers keeps numbers as they are written.
func decodeNumbers(t *testing.T, data []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func texts(facts map[string]any) map[string]string {
	all := map[string]string{}
	for key, value := range facts {
		all[key] = fmt.Sprint(value)
	}
	return all
}

func truthOfPerfetto(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	type track struct {
		name   string
		parent uint64
	}
	tracks, open, methods := map[uint64]track{}, map[uint64]*stack{}, map[uint64]string{}
	visit := func(b []byte, f func(field protowire.Number, n uint64, b []byte)) {
		err := fields(b, func(field protowire.Number, n uint64, b []byte) error {
			f(field, n, b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	visit(out, func(_ protowire.Number, _ uint64, packet []byte) {
		var at, kind, on, iid, category uint64
		var name string
		args := map[string]any{}
		event := false
		visit(packet, func(field protowire.Number, n uint64, b []byte) {
			switch field {
			case 8:
				at = n
			case 12:
				visit(b, func(field protowire.Number, _ uint64, b []byte) {
					var id uint64
					var text string
					visit(b, func(part protowire.Number, n uint64, b []byte) {
						if part == 1 {
							id = n
						} else if part == 2 {
							text = string(b)
						}
					})
					if field == 2 {
						methods[id] = text
					}
				})
			case 60:
				var id uint64
				var tr track
				visit(b, func(field protowire.Number, n uint64, b []byte) {
					switch field {
					case 1:
						id = n
					case 2:
						tr.name = string(b)
					case 4:
						visit(b, func(field protowire.Number, _ uint64, b []byte) {
							if field == 5 {
								tr.name = string(b)
							}
						})
					case 5:
						tr.parent = n
					}
				})
				tracks[id], open[id] = tr, &stack{}
			case 11:
				event = true
				visit(b, func(field protowire.Number, n uint64, b []byte) {
					switch field {
					case 3:
						category = n
					case 4:
						key, value := annotation(t, b)
						args[key] = value
					case 9:
						kind = n
					case 10:
						iid = n
					case 11:
						on = n
					case 23:
						name = string(b)
					}
				})
			}
		})
		m := stallName.FindStringSubmatch(name)
		switch {
		case !event:
		case kind == 1 && category == 1:
			all.called(tracks[on].name, int64(at))
			open[on].enter(methods[iid], int64(at))
		case kind == 1:
			if open[on].enter("", 0); category == 3 {
				all.frames++
			}
		case kind == 2 && open[on].names[len(open[on].names)-1] == "":
			open[on].names, open[on].begins = open[on].names[:len(open[on].names)-1], open[on].begins[:len(open[on].begins)-1]
		case kind == 2:
			open[on].leave(all, int64(at))
		case category == 5:
			all.facts = texts(args)
		case category == 4 && m != nil:
			n, _ := strconv.Atoi(m[1])
			if args["verdict"] != m[2] {
				t.Errorf("perfetto: the verdict is %q and %q", m[2], args["verdict"])
			}
			all.stalls = append(all.stalls, shownStall{n, tracks[tracks[on].parent].name, int64(at),
				inNanos(args["wall ms"].(float64), 1e6), m[2]})
		}
	})
	return all
}

// annotation reads a DebugAnnotation.
func annotation(t *testing.T, b []byte) (key string, value any) {
	err := fields(b, func(field protowire.Number, n uint64, b []byte) error {
		switch field {
		case 2:
			value = n != 0
		case 3:
			value = n
		case 4:
			value = int64(n)
		case 5:
			value = math.Float64frombits(n)
		case 6:
			value = string(b)
		case 10:
			key = string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, value
}

func truthOfFirefox(t *testing.T, out []byte) *shownTruth {
	var file struct {
		Meta struct {
			Extra []struct {
				Entries []struct{ Label, Value string }
			}
		}
		Threads []struct {
			Name    string
			Samples struct {
				Time   []float64
				Stack  []*int
				Weight []float64
			}
			Markers struct {
				Data      []map[string]any
				Name      []int
				StartTime []float64
				EndTime   []*float64
			}
			StackTable struct {
				Frame  []int
				Prefix []*int
			}
			FrameTable  struct{ Func []int }
			FuncTable   struct{ Name []int }
			StringArray []string
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	all := newShown()
	for _, e := range file.Meta.Extra[0].Entries {
		all.facts[e.Label] = e.Value
	}
	for _, th := range file.Threads {
		for i, at := range th.Samples.Stack {
			seen := map[string]bool{}
			if at != nil {
				all.called(th.Name, inNanos(th.Samples.Time[i], 1e6))
			}
			for ; at != nil; at = th.StackTable.Prefix[*at] {
				name := th.StringArray[th.FuncTable.Name[th.FrameTable.Func[th.StackTable.Frame[*at]]]]
				if !seen[name] {
					all.totals[name] += inNanos(th.Samples.Weight[i], 1e6)
				}
				seen[name] = true
			}
		}
		for i, data := range th.Markers.Data {
			if data["type"] == "Frame" {
				all.frames++
			}
			if data["type"] != "Stall" {
				continue
			}
			m := stallName.FindStringSubmatch(th.StringArray[th.Markers.Name[i]])
			if data["verdict"] != m[2] || data["stall"] != float(t, m[1]) {
				t.Errorf("firefox: %q has %v", m[0], data)
			}
			begin := inNanos(th.Markers.StartTime[i], 1e6)
			all.stalls = append(all.stalls, shownStall{int(float(t, m[1])), th.Name, begin,
				inNanos(*th.Markers.EndTime[i], 1e6) - begin, m[2]})
		}
	}
	return all
}

// written writes an export to a file for the decoders that read one.
func written(t *testing.T, out []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func truthOfProfile(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	measures, _ := readProfile(t, written(t, out))
	all.add(measures)
	return all
}

func truthOfCollapsed(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	measures, _ := readCollapsed(t, written(t, out))
	all.add(measures)
	return all
}
