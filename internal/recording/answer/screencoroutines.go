package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
)

const (
	shownInBlock   = 5  // suspend functions, and composables, on the screen at most
	leftForMethods = 10 // lines of the screen that are not used for them
)

// kotlin returns the lines about the composables and the suspend functions of all recordings, in at most so many lines.
func (s *Screen) kotlin(room int) []string {
	var lines []string
	add := func(block func(r *analysis.Recording, name string, most int) []string) {
		for _, r := range s.recordings {
			name := ""
			if len(s.recordings) > 1 {
				name = r.Name + ": "
			}
			if most := min(shownInBlock, (room-len(lines)-3)/2); most > 0 {
				lines = append(lines, afterBlank(block(r, name, most))...)
			}
		}
	}
	add(func(r *analysis.Recording, name string, most int) []string {
		return compositionsOf(r).lines(name, most)
	})
	add(func(r *analysis.Recording, name string, most int) []string { return coroutinesOf(r).lines(name, most) })
	return lines
}

// afterBlank returns lines behind an empty one; none if there are none.
func afterBlank(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}

// lines returns a title, and two lines about each of the first functions; most is how many.
func (c *Coroutines) lines(recording string, most int) []string {
	if c == nil || len(c.Functions) == 0 {
		return nil
	}
	functions := c.own()
	lines := []string{recording + c.title(functions)}
	lines = append(lines, fmt.Sprintf("%12s %12s %9s %9s %12s  %s", "suspended", "running", "calls", "resumed", "longest",
		"suspend functions"))
	for i := range functions[:min(most, len(functions))] {
		f := &functions[i]
		lost, apart := c.LostMarks > 0, f.BeginUnknown > 0
		long := bound(f.AtMost, lost || apart)
		line := fmt.Sprintf("%12s %12s %9s %9s %12s  ", long+units.Short(f.Suspended),
			bound(false, lost)+units.Short(f.Running), bound(apart, lost)+units.Thousands(f.Calls),
			bound(false, lost || apart)+units.Thousands(f.Resumed), long+units.Short(f.Longest.Wall))
		lines = append(lines, line+shortened(f.Method.String(), screenWidth-len([]rune(line))))
		if text := f.details(); text != "" {
			lines = append(lines, "              "+fitting(text, screenWidth-14))
		}
	}
	return lines
}

// bound is what stands before a number that may be greater or less than what is true.
func bound(greater, less bool) string {
	switch {
	case greater && less:
		return "~ "
	case greater:
		return "≤ "
	case less:
		return "≥ "
	}
	return ""
}

// own returns the functions of the program, or all if it has none.
func (c *Coroutines) own() []SuspendFunction {
	own := slices.DeleteFunc(slices.Clone(c.Functions), func(f SuspendFunction) bool { return f.Glue })
	if len(own) == 0 {
		return c.Functions
	}
	return own
}

// title says how many calls there are, and how much is known.
func (c *Coroutines) title(functions []SuspendFunction) string {
	calls, apart := uint64(0), false
	for i := range functions {
		calls += functions[i].Calls
		apart = apart || functions[i].BeginUnknown > 0
	}
	text := fmt.Sprintf("Coroutines: %s%s of %s", bound(apart, c.LostMarks > 0), units.Count(calls, "call"),
		units.Count(len(functions), "suspend function"))
	if c.OnlyStalls {
		text += " in stalls, as all else is not recorded"
	}
	if c.Partial {
		text += "; suspended, or on threads that are not recorded"
	}
	if c.LostMarks > 0 {
		text += fmt.Sprintf("; %s of suspensions lost", units.Count(c.LostMarks, "mark"))
	}
	if c.Ambiguous > 0 {
		text += fmt.Sprintf("; %s not followed", units.Count(c.Ambiguous, "call"))
	}
	return text
}

// details says what a function waited for, where it ran, and who launched it.
func (f *SuspendFunction) details() string {
	var parts []string
	for i, w := range f.Waits {
		// What took a tenth of the time is worth naming, besides the first.
		if w.Method == nil || i > 0 && w.Nanos*10 < f.Suspended {
			continue
		}
		text := "waiting for " + calledName(*w.Method)
		if w.Launched {
			text = "until " + calledName(*w.Method) + " had ended on " + w.Thread
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", text, units.Percent(w.Nanos, f.Suspended)))
	}
	if f.NotResumed > 0 {
		parts = append(parts, fmt.Sprintf("%s suspended at the end", units.Thousands(f.NotResumed)))
	}
	if f.Late > noticedLate {
		text := "began up to " + units.Short(f.Late) + " after its launch"
		if f.Busy != nil {
			text += ", as " + coroutine.BusyText(f.Busy.Threads, f.Busy.Thread, calledName(f.Busy.Method))
		}
		parts = append(parts, text)
	}
	if len(f.Launchers) > 0 {
		text := "launched by " + calledName(f.Launchers[0].Method)
		if by := f.Launchers[0].By; by != nil {
			text += " (" + calledName(*by) + ")"
		}
		parts = append(parts, text)
	}
	if len(f.Threads) > 0 {
		parts = append(parts, "on "+strings.Join(f.Threads, ", "))
	}
	return strings.Join(parts, "; ")
}

// noticedLate is the delay from which on it is said that a lambda began late.
const noticedLate = 100 * time.Millisecond

// calledName is the name of a method that coroutines called: of one of Kotlin's library without class and package.
func calledName(m resolve.Method) string {
	if strings.HasPrefix(m.Class, "kotlinx.coroutines.") || strings.HasPrefix(m.Class, "kotlin.") {
		name, _, _ := strings.Cut(m.Name, "$")
		return name
	}
	return m.String()
}
