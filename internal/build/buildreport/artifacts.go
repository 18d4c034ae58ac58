package buildreport

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/build/artifact"
	"github.com/tracegen/tracegen/internal/console"
)

// What Android's documents say about an app that comes from Google Play. A megabyte is taken as the smaller of its two
// meanings.
const (
	// playDex is the size of all dex files from which on the shares count: 10 MB.
	playDex = 10_000_000
	// playShare is the smallest share of the code, in percent, that R8 or another tool must optimize, shrink and
	// obfuscate, from February 2027 on.
	playShare = 25
	// playProfile is the size that a compiled baseline profile must not reach: 1.5 MB.
	playProfile = 1_500_000
)

// Artifacts compares the app bundle or APK of a build with tracegen with that of a build without it.
type Artifacts struct {
	// App is that with tracegen, Plain that without, or nil.
	App, Plain *artifact.Artifact

	loss    *artifact.Loss // nil if Plain has no profile, or if it is not known
	unknown error          // why it is not
}

// CompareArtifacts compares two artifacts; plain may be nil. The error is that of a damaged file.
func CompareArtifacts(plain, app *artifact.Artifact) (*Artifacts, error) {
	a := &Artifacts{App: app, Plain: plain}
	if plain == nil || plain.Profile == nil {
		return a, nil
	}
	if a.loss, a.unknown = app.Lost(plain); a.unknown != nil && !errors.Is(a.unknown, artifact.ErrNoNames) {
		return nil, a.unknown
	}
	return a, nil
}

func (*Artifacts) guards() []guard[*Artifacts] {
	return []guard[*Artifacts]{
		{"dex", 10, true, func(a *Artifacts, limit guardLimit) Guard {
			return checkMore("the dex files", "bytes", a.Plain.DexBytes, a.App.DexBytes, limit)
		}},
		{"references", 1, true, func(a *Artifacts, limit guardLimit) Guard {
			return checkMore("the dex files", "method references", int64(a.Plain.References), int64(a.App.References),
				limit)
		}},
		{"shares", playShare, false, checkShares},
		{"profile-size", playProfile, false, checkProfileSize},
		{"profile-methods", 0, true, checkProfileMethods},
	}
}

// checkMore fails if there is more by more than a percentage.
func checkMore(what, unit string, before, after int64, limit guardLimit) Guard {
	growth := percentMore(before, after)
	return Guard{Expected: fmt.Sprintf("at most %v %%", limit.number), Unit: "percent", Value: growth,
		Failed: growth > limit.number,
		Actual: fmt.Sprintf("%s grow from %d to %d %s, by %.2f %%", what, before, after, unit, growth)}
}

func percentMore(before, after int64) float64 {
	if before == 0 {
		return 0
	}
	return 100 * float64(after-before) / float64(before)
}

// checkShares fails if a share is smaller than the limit, or not known, in an app that is big enough for Play to ask.
func checkShares(a *Artifacts, limit guardLimit) Guard {
	g := Guard{Unit: "percent"}
	g.Expected = fmt.Sprintf("at least %v %% from %d bytes of dex files on", limit.number, playDex)
	big := a.App.DexBytes >= playDex
	s := a.App.Shares
	if s == nil {
		g.Actual, g.Failed = fmt.Sprintf("%d bytes of dex files, and the shares are not known: there is no r8.json with"+
			" them in it", a.App.DexBytes), big
		return g
	}
	least := min(s.Optimized, s.Shrunk, s.Obfuscated)
	g.Value, g.Failed = least, big && !(least >= limit.number)
	g.Actual = fmt.Sprintf("%d bytes of dex files; R8 may optimize %.2f %%, shrink %.2f %% and obfuscate %.2f %% of the"+
		" code", a.App.DexBytes, s.Optimized, s.Shrunk, s.Obfuscated)
	return g
}

// checkProfileSize fails if the profile is as big as the limit.
func checkProfileSize(a *Artifacts, limit guardLimit) Guard {
	g := Guard{Expected: fmt.Sprintf("less than %.0f bytes", limit.number), Actual: "there is no baseline profile",
		Unit: "bytes", Value: 0}
	if p := a.App.Profile; p != nil {
		g.Actual, g.Value = fmt.Sprintf("the baseline profile has %d bytes", p.Bytes), p.Bytes
		g.Failed = float64(p.Bytes) >= limit.number
	}
	return g
}

// checkProfileMethods fails if more methods than the limit are in the app, but no longer in its profile, and if that
// is not known.
func checkProfileMethods(a *Artifacts, limit guardLimit) Guard {
	g := Guard{Expected: fmt.Sprintf("at most %v methods", limit.number), Unit: "methods", Value: 0,
		Actual: "there is no baseline profile without tracegen"}
	switch {
	case a.unknown != nil:
		g.Actual, g.Value, g.Failed = a.unknown.Error(), nil, true
	case a.loss != nil:
		lost := len(a.loss.Unnamed)
		g.Value, g.Failed = lost, float64(lost) > limit.number
		g.Actual = fmt.Sprintf("methods that the baseline profile names no longer: %d", lost)
	}
	return g
}

// artifactNumber is a row of the table. A number that is not known is NaN.
type artifactNumber struct {
	name   string
	number float64
	share  bool // in percent
}

func numbersOf(a *artifact.Artifact) []artifactNumber {
	unknown := math.NaN()
	shares := cmp.Or(a.Shares, &artifact.Shares{Optimized: unknown, Shrunk: unknown, Obfuscated: unknown})
	size, methods, classes := unknown, unknown, unknown
	if p := a.Profile; p != nil {
		size, methods, classes = float64(p.Bytes), float64(p.Methods), float64(p.Classes)
	}
	return []artifactNumber{
		{"dex files", float64(a.DexFiles), false},
		{"bytes of dex files", float64(a.DexBytes), false},
		{"classes", float64(a.Classes), false},
		{"methods", float64(a.Methods), false},
		{"method references", float64(a.References), false},
		{"code that R8 may optimize", shares.Optimized, true},
		{"code that R8 may shrink", shares.Shrunk, true},
		{"code that R8 may obfuscate", shares.Obfuscated, true},
		{"bytes of the baseline profile", size, false},
		{"methods in it", methods, false},
		{"classes in it", classes, false},
	}
}

// maxNamed is how many methods a text names.
const maxNamed = 10

// WriteTable writes a table in Markdown, and below it what no number says.
func (a *Artifacts) WriteTable(w io.Writer) error {
	var b strings.Builder
	if a.Plain != nil {
		fmt.Fprintf(&b, "| %-30s | %12s | %12s | %9s |\n|%s|%s:|%[6]s:|%s:|\n", "", "without", "with", "change",
			strings.Repeat("-", 32), strings.Repeat("-", 13), strings.Repeat("-", 10))
	} else {
		fmt.Fprintf(&b, "| %-30s | %12s |\n|%s|%s:|\n", "", "with", strings.Repeat("-", 32), strings.Repeat("-", 13))
	}
	for i, row := range numbersOf(a.App) {
		if a.Plain == nil {
			fmt.Fprintf(&b, "| %-30s | %12s |\n", row.name, row)
			continue
		}
		plain, change := numbersOf(a.Plain)[i], ""
		switch difference := row.number - plain.number; {
		case math.IsNaN(difference) || difference == 0:
		case row.share:
			change = fmt.Sprintf("%+.2f", difference)
		case plain.number != 0:
			change = fmt.Sprintf("%+.1f %%", 100*difference/plain.number)
		}
		fmt.Fprintf(&b, "| %-30s | %12s | %12s | %9s |\n", row.name, plain, row, change)
	}
	a.writeNotes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// String returns the number as the table has it.
func (row artifactNumber) String() string {
	switch {
	case math.IsNaN(row.number):
		return "-"
	case row.share:
		return fmt.Sprintf("%.2f %%", row.number)
	}
	return strconv.FormatFloat(row.number, 'f', 0, 64)
}

func (a *Artifacts) writeNotes(b *strings.Builder) {
	b.WriteByte('\n')
	switch {
	case a.App.DexBytes < playDex:
		fmt.Fprintf(b, "The dex files have less than %d bytes: Play does not ask for shares.\n", playDex)
	case a.Plain != nil && a.Plain.DexBytes < playDex:
		fmt.Fprintf(b, "Only with tracegen, the dex files have %d bytes or more: Play asks for %d %% of each share.\n",
			playDex, playShare)
	default:
		fmt.Fprintf(b, "The dex files have %d bytes or more: Play asks for %d %% of each share.\n", playDex, playShare)
	}
	switch {
	case a.unknown != nil:
		fmt.Fprintf(b, "%s.\n", console.Printable(a.unknown.Error()))
	case a.loss != nil:
		fmt.Fprintf(b, "Methods of the baseline profile that R8 removed or put into their callers only with tracegen: %d.\n",
			a.loss.Gone)
		fmt.Fprintf(b, "Methods that the baseline profile names no longer: %d.\n", len(a.loss.Unnamed))
		for _, m := range a.loss.Unnamed[:min(len(a.loss.Unnamed), maxNamed)] {
			fmt.Fprintf(b, "- %s\n", console.Printable(strings.ReplaceAll(m.Class, "/", ".")+"."+m.Name+m.Descriptor))
		}
	}
}
