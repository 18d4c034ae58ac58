package answer

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/mapping"
)

// A method is not worth being traced if no call of it ever took longestBlocked, its calls take meanBlocked on average
// at most, and it makes shareBlocked of all records at least.
const (
	longestBlocked = 16 * time.Millisecond
	meanBlocked    = 20 * time.Microsecond
	shareBlocked   = 1.0 / 200

	// pairCost is what an entry and an exit cost together, as measured on a desktop.
	pairCost = 3 * time.Nanosecond
)

// Blocklist is which methods the next build need not trace.
type Blocklist struct {
	// Methods are those to block, the one with the most records first.
	Methods []*MethodTotal
	// Rules are the lines for tracegen.yml: "block: PATTERN" and "allow: PATTERN", in this order.
	Rules []string
	// Records is how many records there would not have been, of Of; Nanos how long the recordings were. Records that
	// are lost or were left out are in both, estimated by those that are there if they have no counts of their own.
	Records, Of uint64
	Nanos       int64
	lossy       bool
	// Refused are methods with as many records that are not blocked, each with the reason.
	Refused []Refusal
}

// Refusal is a Method that makes many records, and the Reason why it is traced all the same: it is worth them, or no
// rule can name it.
type Refusal struct {
	Method *MethodTotal
	Reason string
}

// Suggest picks the methods with many calls and little time. A rule matches a method of that name in nested classes
// too: in whatever builds all may have, those are allowed again, unless they are to be blocked themselves.
//
// Recordings that have lost records show how often methods were called, but not which calls were long. So there a
// method is chosen by its counts: one long call of many does not protect it, nor that it is on a hot path. Methods
// with less than shareBlocked of the records are blocked too, the ones with the most records first, until the rest
// would have been recorded without loss.
func (m *Methods) Suggest(builds []*mapping.Mapping) *Blocklist {
	b := &Blocklist{Of: uint64(m.made), Nanos: m.Nanos, lossy: m.lossy}
	list := slices.DeleteFunc(slices.Clone(m.list), func(t *MethodTotal) bool { return t.made == 0 })
	slices.SortFunc(list, func(x, y *MethodTotal) int {
		return cmp.Or(cmp.Compare(y.made, x.made), cmp.Compare(y.Calls, x.Calls), cmp.Compare(y.Self, x.Self),
			cmp.Compare(y.Total, x.Total), resolve.CompareMethods(x.Method.Key(), y.Method.Key()),
			cmp.Compare(x.Method.ID, y.Method.ID))
	})
	rest, enough := m.made, m.capacity*spare
	for _, t := range list {
		large := t.made >= shareBlocked*m.made
		if !large && (!m.lossy || rest <= enough) {
			break
		}
		if reason := worth(t, m.lossy); reason != "" {
			if large {
				b.Refused = append(b.Refused, Refusal{t, reason})
			}
			continue
		}
		b.Methods = append(b.Methods, t)
		b.Records += uint64(t.made)
		rest -= t.made
	}
	b.rules(builds)
	return b
}

// spare is which part of the records that were recorded where others were lost may be left: calls do not come evenly.
const spare = 0.25

// worth says why a method is worth its records; "" if it is not. lossy says that records are lost.
func worth(t *MethodTotal, lossy bool) string {
	switch {
	case t.Method.Unresolved || t.Method.Descriptor == "":
		return "its name is unknown"
	case strings.ContainsAny(t.Method.Class+t.Method.Name+t.Method.Descriptor, "*?#"):
		return "no rule matches it alone"
	case t.Stalls > 0 && !lossy:
		return fmt.Sprintf("on the hot path of %s", analysis.Count(t.Stalls, "stall"))
	case t.Longest >= longestBlocked.Nanoseconds() && !lossy:
		return "one call took " + units.Millis(time.Duration(t.Longest))
	case t.Calls == 0 && t.LeftOut == 0 || t.Calls > 0 && t.Total/int64(t.Calls) > meanBlocked.Nanoseconds():
		return "a call takes " + units.Millis(time.Duration(t.Total/int64(max(1, t.Calls)))) + " on average"
	}
	return ""
}

// rules makes the rules.
func (b *Blocklist) rules(builds []*mapping.Mapping) {
	type signature struct{ name, descriptor string }
	blocked := map[resolve.Method]bool{}
	classes := map[signature]map[string]bool{} // that have such a method
	for _, t := range b.Methods {
		blocked[t.Method.Key()] = true
		classes[signature{t.Method.Name, t.Method.Descriptor}] = map[string]bool{}
	}
	for _, build := range builds {
		for e := range build.All() {
			if c := classes[signature{e.Name, e.Descriptor}]; c != nil {
				c[mapping.Text(e.Class)] = true
			}
		}
	}
	var allow []string
	for _, t := range b.Methods {
		m := t.Method
		b.Rules = append(b.Rules, "block: "+pattern(m.Class, m.Name, m.Descriptor))
		for class := range classes[signature{m.Name, m.Descriptor}] {
			nested := resolve.Method{Class: class, Name: m.Name, Descriptor: m.Descriptor}
			if strings.HasPrefix(class, m.Class+"$") && !blocked[nested.Key()] {
				allow = append(allow, "allow: "+pattern(class, m.Name, m.Descriptor))
			}
		}
	}
	slices.Sort(allow)
	b.Rules = append(b.Rules, slices.Compact(allow)...)
}

func pattern(class, name, descriptor string) string {
	return `"` + class + "#" + name + descriptor + `"`
}

// WriteConfig writes the rules as a tracegen.yml, or a file that one includes, with what they save in comments.
func (b *Blocklist) WriteConfig(w io.Writer) error {
	out := bufio.NewWriter(w)
	if b.lossy {
		fmt.Fprintf(out, "# Records were lost, so these methods are chosen by their counts: the mean call took at most %s. "+
			"Record\n# again with these rules, and choose again if records are still lost.\n", units.Millis(meanBlocked))
	} else {
		fmt.Fprintf(out, "# Methods with many calls and little time: no call took %s or more, the mean call at most %s, "+
			"and none is on the\n# hot path of a stall.\n", units.Millis(longestBlocked), units.Millis(meanBlocked))
	}
	fmt.Fprintf(out, "#\n# Saved: %s\n#\n", b.saving(b.Records))
	if len(b.Refused) > 0 {
		fmt.Fprintf(out, "# Not blocked, though they make as many records:\n")
		for _, r := range b.Refused {
			fmt.Fprintf(out, "#   %s, %s: %s\n", r.Method.Method.Identity(), share(uint64(r.Method.made), b.Of), r.Reason)
		}
		fmt.Fprintf(out, "#\n")
	}
	if len(b.Rules) == 0 {
		fmt.Fprintf(out, "# There is nothing to block.\nrules: []\n")
		return out.Flush()
	}
	fmt.Fprintf(out, "rules:\n")
	for i, rule := range b.Rules {
		if i >= len(b.Methods) {
			fmt.Fprintf(out, "  # in a nested class of one above; it stays traced\n  - %s\n", rule)
			continue
		}
		t := b.Methods[i]
		fmt.Fprintf(out, "  # %d calls, own time %s, the longest %s; saves %s\n  - %s\n", t.Calls,
			units.Millis(time.Duration(t.Self)),
			units.Millis(time.Duration(t.Longest)), b.saving(uint64(t.made)), rule)
	}
	return out.Flush()
}

// saving says what so many records cost.
func (b *Blocklist) saving(records uint64) string {
	text := fmt.Sprintf("%d of %d records (%s)", records, b.Of, share(records, b.Of))
	if b.Nanos > 0 {
		text += fmt.Sprintf(", %.0f a second", float64(records)*1e9/float64(b.Nanos))
	}
	cost := units.Millis(time.Duration(records/2) * pairCost)
	return text + fmt.Sprintf(", %s at %d ns for an entry and an exit", cost, pairCost.Nanoseconds())
}

// share returns a part with one decimal.
func share(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
