package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// head says what the recordings are, how whole they are, what recording cost, on which machine, and what is not to be
// trusted.
func (s *Screen) head() []string {
	lines := s.titles()
	if text := s.cost(); text != "" {
		lines = append(lines, whole(field("cost", text), screenWidth))
	}
	if text := s.machine.String(); text != "" {
		lines = append(lines, field("machine", text))
	}
	for _, r := range s.recordings {
		if r.Exit == nil {
			continue
		}
		if text := field("ended", r.Exit.String()); !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
		if r.Exit.Locks != nil && len(r.Exit.Locks.Deadlocks) > 0 {
			lines = append(lines, field("deadlock", resolve.DeadlockText(r.Exit.Locks.Deadlocks[0])))
		}
	}
	lines = append(lines, s.warnings()...)
	if n := len(lines) - shownHead + 1; n > 1 {
		lines = append(lines[:shownHead-1], fmt.Sprintf("... %d more lines: -v shows all", n))
	}
	return lines
}

// warnings returns each warning once, with the recordings that it is about if there are several.
func (s *Screen) warnings() []string {
	about := map[string][]string{}
	var texts, lines []string
	for _, r := range s.recordings {
		for _, text := range r.OtherWarnings() {
			text = strings.TrimPrefix(text, r.Name+": ")
			if about[text] == nil {
				texts = append(texts, text)
			}
			about[text] = append(about[text], r.Name)
		}
	}
	for _, text := range texts {
		names := about[text][0]
		if more := len(about[text]) - 1; more > 0 {
			names = fmt.Sprintf("%s and %d more", names, more)
		}
		if len(s.recordings) > 1 {
			text = names + ": " + text
		}
		lines = append(lines, wrapped("!!! "+text)...)
	}
	return lines
}

func field(name, text string) string { return fmt.Sprintf("  %-10s%s", name, text) }

// titles returns a line about each recording and one about how whole it is.
func (s *Screen) titles() []string {
	if len(s.recordings) == 1 {
		r := s.recordings[0]
		title := strings.Join(slices.Concat(whose(r), []string{units.Short(r.Span)}, howExact(r)), ", ")
		return append([]string{r.Name + ": " + title}, wholeness(r)...)
	}
	lines, complete := []string{""}, 0
	span := time.Duration(0)
	for _, r := range s.recordings {
		span += r.Span
		if c := r.Completeness; c == nil || c.Lost+c.LeftOut+c.WindowCalls == 0 {
			complete++
			continue
		}
		for _, line := range wholeness(r) {
			lines = append(lines, strings.Replace(line, "recording ", r.Name+": ", 1))
		}
	}
	lines[0] = fmt.Sprintf("%s of %s in all; no call is missing from %d of them", units.Count(len(s.recordings),
		"recording"), units.Short(span), complete)
	return lines
}

// wholeness says how whole a recording is; nothing for a text, which does not say it.
func wholeness(r *analysis.Recording) []string {
	c := r.Completeness
	if c == nil {
		return nil
	}
	text := c.Line()
	if repaired := r.Repaired(); repaired != "" {
		text += "; repaired: " + repaired
	}
	line := whole(field("recording", text), screenWidth)
	if c.Lossy() {
		line = whole("!!! "+strings.TrimSpace(field("recording", text)), screenWidth)
	}
	return []string{line}
}

// cost says what recording cost, as far as the recordings show it.
func (s *Screen) cost() string {
	var records, samples, tool uint64
	for _, r := range s.recordings {
		records, samples, tool = records+r.Records, samples+r.Samples, tool+r.ToolSamples
	}
	if records == 0 {
		return ""
	}
	text := units.Count(records, "record")
	var costs []*analysis.Cost
	for _, r := range s.recordings {
		costs = append(costs, r.Cost)
	}
	if cost := analysis.SumCosts(costs); cost != nil {
		text = cost.String() + "; " + text
	}
	if samples > 0 {
		text += fmt.Sprintf("; %s of %s (%s) were taken in tracegen's own code, which is left out",
			units.Thousands(tool), units.Count(samples, "stack"),
			units.Percent(time.Duration(tool), time.Duration(samples)))
	}
	return text
}

// wrapped breaks a text into lines of the screen.
func wrapped(text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > screenWidth {
			lines, line = append(lines, line), "   "
		}
		line += " " + word
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}

// machineFacts sum up the states of the machine in stalls.
type machineFacts struct {
	processors        int64
	pressure          int64 // the greatest, in percent
	heap, heapMax     int64 // the greatest, in KiB
	free, memory, low int64 // the smallest, in KiB; low is how many states say that memory was low
	pressureSeen      int
}

func (m *machineFacts) add(s *analysis.Stall) {
	for _, state := range s.Machine {
		for _, f := range state.Facts {
			n, err := strconv.ParseFloat(f.Value, 64)
			if f.Key == "low-memory" && f.Value == "true" {
				m.low++
			}
			if err != nil {
				continue
			}
			switch v := int64(n); f.Key {
			case "processors":
				m.processors = v
			case "cpu-pressure-percent":
				m.pressure, m.pressureSeen = max(m.pressure, v), m.pressureSeen+1
			case "java-heap-used-kb":
				m.heap = max(m.heap, v)
			case "java-heap-max-kb":
				m.heapMax = max(m.heapMax, v)
			case "memory-available-kb":
				if m.free == 0 || v < m.free {
					m.free = v
				}
			case "memory-total-kb":
				m.memory = v
			}
		}
	}
}

// String says it in a sentence; it is empty if nothing was recorded.
func (m *machineFacts) String() string {
	var parts []string
	add := func(n int64, form string, values ...any) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(form, values...))
		}
	}
	add(m.processors, "%s", units.Count(int(m.processors), "processor"))
	add(int64(m.pressureSeen), "tasks waited up to %d %% of the time", m.pressure)
	add(m.heapMax, "Java heap %s of %s", kib(m.heap), kib(m.heapMax))
	add(m.memory, "%s of %s free", kib(m.free), kib(m.memory))
	add(m.low, "memory was low")
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// kib returns an amount of memory.
func kib(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d MB", n>>10)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<20))
}
