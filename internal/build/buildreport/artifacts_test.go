package buildreport

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/artifact"
)

// TestArtifactGuards checks each guard on both sides of its limit. What is not known fails where it counts.
//
// Invariant: A guard on an app bundle or APK passes only if its value is known and within the limit.
func TestArtifactGuards(t *testing.T) {
	atLine := func(optimized, shrunk, obfuscated float64) artifact.Artifact {
		return artifact.Artifact{DexBytes: 10_000_000, Shares: &artifact.Shares{Optimized: optimized, Shrunk: shrunk,
			Obfuscated: obfuscated}}
	}
	plain := artifact.Artifact{DexBytes: 10_000, References: 1_000}
	for _, c := range []struct {
		guard  string
		app    artifact.Artifact
		change func(a *Artifacts)
		failed bool
		says   string
	}{
		{"dex", artifact.Artifact{DexBytes: 11_000}, nil, false, "by 10.00 %"},
		{"dex", artifact.Artifact{DexBytes: 11_001}, nil, true, "from 10000 to 11001 bytes"},
		{"dex=3", artifact.Artifact{DexBytes: 10_301}, nil, true, "at most 3 %"},
		{"references", artifact.Artifact{References: 1_010}, nil, false, "by 1.00 %"},
		{"references", artifact.Artifact{References: 1_011}, nil, true, "from 1000 to 1011 method references"},
		{"shares", artifact.Artifact{DexBytes: 9_999_999, Shares: &artifact.Shares{}}, nil, false, "optimize 0.00 %"},
		{"shares", atLine(90, 90, 90), nil, false, "shrink 90.00 %"},
		{"shares", atLine(25, 25, 25), nil, false, "obfuscate 25.00 %"},
		{"shares", atLine(24.99, 90, 90), nil, true, "optimize 24.99 %"},
		{"shares", atLine(90, 24.99, 90), nil, true, "shrink 24.99 %"},
		{"shares", atLine(90, 90, 24.99), nil, true, "obfuscate 24.99 %"},
		{"shares=95", atLine(90, 90, 90), nil, true, "at least 95 %"},
		{"shares", artifact.Artifact{DexBytes: 10_000_000}, nil, true, "not known"},
		{"shares", artifact.Artifact{DexBytes: 9_999_999}, nil, false, "not known"},
		{"profile-size", artifact.Artifact{}, nil, false, "there is no baseline profile"},
		{"profile-size", artifact.Artifact{Profile: &artifact.Profile{Bytes: 1_499_999}}, nil, false, "1499999"},
		{"profile-size", artifact.Artifact{Profile: &artifact.Profile{Bytes: 1_500_000}}, nil, true, "less than 1500000"},
		{"profile-methods", artifact.Artifact{}, nil, false, "no baseline profile without tracegen"},
		{"profile-methods", artifact.Artifact{}, func(a *Artifacts) { a.loss = &artifact.Loss{Gone: 5} }, false, "longer: 0"},
		{"profile-methods", artifact.Artifact{}, func(a *Artifacts) { a.unknown = artifact.ErrNoNames }, true, "not known"},
	} {
		var guards Guards[*Artifacts]
		if _, err := guards.Add(c.guard); err != nil {
			t.Fatal(err)
		}
		a, err := CompareArtifacts(&plain, &c.app)
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(a)
		}
		for _, g := range guards.Check(a) {
			if g.Failed != c.failed || !strings.Contains(g.String(), c.says) {
				t.Errorf("%s: failed %t: %s; want %t and %q", c.guard, g.Failed, g, c.failed, c.says)
			}
		}
	}
}

// TestArtifactTable: from 10 MB of dex files on, Play asks for shares; the text says if that is so with tracegen only.
func TestArtifactTable(t *testing.T) {
	small, big := &artifact.Artifact{DexBytes: playDex - 1}, &artifact.Artifact{DexBytes: playDex}
	for _, c := range []struct {
		plain, app *artifact.Artifact
		says       string
	}{
		{small, small, "Play does not ask"}, {small, big, "Only with tracegen"}, {big, big, "\nThe dex files have 10000000"},
		{nil, small, "Play does not ask"}, {nil, big, "\nThe dex files have 10000000"},
	} {
		a, err := CompareArtifacts(c.plain, c.app)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := a.WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.says) || strings.Contains(b.String(), "%!") {
			t.Errorf("the text does not say %q:\n%s", c.says, b.String())
		}
	}
}
