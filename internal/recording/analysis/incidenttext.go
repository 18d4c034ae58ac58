package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/units"
)

// The kinds of incidents that are figures.
const (
	IncidentSceneFrames = "scene-frames"
	IncidentStartup     = "startup"
)

// The other kinds of incidents that this program has words for; trace/EVIDENCE.md lists them.
const (
	incidentBarrier    = "sync-barrier"
	incidentMissedPoll = "missed-poll"
	incidentLag        = "lag"
	incidentANR        = "anr"
	incidentSigquit    = "sigquit"
	incidentTouch      = "touch-lag"
	incidentDropped    = "dropped-frames"
	incidentFrozen     = "frozen-frame"
)

// incidentTexts has a sentence for each kind. It says what was seen, and what that does not prove.
var incidentTexts = map[string]func(*Incident) string{
	incidentBarrier: func(i *Incident) string {
		text := "a sync barrier stayed at the head of the queue" + i.millisFact(" for ", "age-millis") +
			": no synchronous message could run, and no method that ran is at fault; what posted the barrier did not remove it"
		if a, s := i.Fact("asynchronous-answered"), i.Fact("synchronous-answered"); a != "" && s != "" {
			text += fmt.Sprintf("; probes answered: asynchronous %s, synchronous %s", a, s)
		}
		return text
	},
	incidentMissedPoll: func(i *Incident) string {
		return "the thread did not answer a poll" + i.millisFact(" of ", "poll-millis")
	},
	incidentLag: func(i *Incident) string { return "it did not end within the limit" + i.limit() },
	incidentANR: func(i *Incident) string {
		return "it did not end within the system's limit" + i.limit() + i.confirmed()
	},
	incidentSigquit: func(i *Incident) string {
		return "the system asked for the stacks of all threads by SIGQUIT, as it does in an ANR of any process" +
			i.confirmed()
	},
	incidentTouch:       func(*Incident) string { return "the app answered an input event late" },
	incidentDropped:     func(i *Incident) string { return "frames were dropped" + i.inParentheses("dropped") },
	incidentFrozen:      func(*Incident) string { return "a frame took very long" },
	IncidentSceneFrames: func(*Incident) string { return "the frames of a scene" },
	IncidentStartup: func(i *Incident) string {
		text := strings.TrimSpace(i.Fact("type")+" start") + " until the first window had the focus"
		if i.Fact("slow") == "true" {
			text += ", slow" + i.millisFact(": the limit is ", "limit-millis")
		}
		return text
	},
}

// text says in a line what was found. A kind without a sentence is shown as it is.
func (i *Incident) text(r *Recording) string {
	say, known := incidentTexts[i.Kind]
	text := "found by the detector " + i.Detector
	if known {
		text = say(i)
	}
	if !i.Ended && r.Exit != nil && !r.Damage.Closed {
		text += "; it had not ended when " + r.Exit.String()
	}
	return text
}

// systemLimits say what the limits of Android are for.
var systemLimits = map[string]string{"input": "an input event", "broadcast": "a broadcast", "service": "a service",
	"provider": "a content provider", "job": "a job"}

// limit names the limit that was passed: of the detector, or of the system for a kind of ANR.
func (i *Incident) limit() string {
	text := ""
	if of := i.Fact("limit-of"); of != "" {
		text = " for " + cmp.Or(systemLimits[of], of)
	}
	return text + i.millisFact(" of ", "limit-millis") + i.millisFact(", in the background ", "background-limit-millis")
}

// confirmed says what confirms that this process had an ANR. Only the system can.
func (i *Incident) confirmed() string {
	switch by := i.Fact("confirmed-by"); {
	case strings.Contains(by, "process-error-state"):
		return "; the system has confirmed an ANR (" + by + ")"
	case by != "" && by != "none":
		return "; the system has not confirmed an ANR, but: " + by
	}
	return "; the system has not confirmed an ANR"
}

// millisFact returns a fact of milliseconds with a text before it; empty if there is none.
func (i *Incident) millisFact(before, key string) string {
	if v := i.Fact(key); v != "" {
		return before + v + " ms"
	}
	return ""
}

func (i *Incident) inParentheses(key string) string {
	if v := i.Fact(key); v != "" {
		return " (" + v + ")"
	}
	return ""
}

// Title says in a line which incident it is.
func (i *Incident) Title(r *Recording) string {
	text := fmt.Sprintf("%s i%d: %s (%s)", r.Name, i.Number, i.Kind, i.Detector)
	if i.Ended && i.Wall > 0 {
		text += ", " + units.Millis(i.Wall)
	}
	if i.Thread != nil {
		s := Stall{Thread: i.Thread}
		text += " on " + s.threadName()
	}
	text += i.Time.began(i.Begin)
	if !i.Ended {
		text += ", no end was recorded"
	}
	return text
}

// Line says in a line what it is, for formats that have one line for it.
func (i *Incident) Line(r *Recording) string {
	text := strings.TrimPrefix(i.Title(r), r.Name+" ") + ": " + i.Text
	if i.What != "" {
		text += "; " + i.What
	}
	if i.Scene != "" {
		text += "; scene " + i.Scene
	}
	return text
}

// Methods returns what leads to where the time went, the outermost first; empty if nothing is known.
func (i *Incident) Methods() []string {
	methods, _ := i.cause()
	return methods
}

// cause returns the methods that an incident's time went to, and a key of them; see [causeOf].
func (i *Incident) cause() (methods []string, key string) {
	for _, step := range i.HotPath {
		methods = append(methods, step.Method.Identity())
	}
	var frames []string
	if best := i.BestStack(); best != nil {
		frames = best.Frames
	}
	return causeOf(methods, pathKey(i.HotPath), frames, i.What)
}

// Lasted returns how long it lasted, or, if it has no end, how long it had lasted when its last stack was taken.
func (i *Incident) Lasted() time.Duration {
	lasted := i.Wall
	for k := range i.Stacks {
		lasted = max(lasted, i.Stacks[k].After)
	}
	return lasted
}

// BestStack returns that stack of the incident's thread that was taken most often in a row, of equals the first; nil if
// there is none.
func (i *Incident) BestStack() *IncidentStack {
	var best, last *IncidentStack
	most, count, thread := 0, 0, ""
	if i.Thread != nil {
		thread = i.Thread.Name
	}
	for k := range i.Stacks {
		s := &i.Stacks[k]
		if thread = cmp.Or(thread, s.Thread); s.Thread != thread {
			continue
		}
		if count++; last == nil || !slices.Equal(s.Frames, last.Frames) {
			last, count = s, 1
		}
		if count > most {
			best, most = last, count
		}
	}
	return best
}
