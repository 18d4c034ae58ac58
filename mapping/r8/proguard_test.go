package r8_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping/r8"
)

// TestCorpusProGuard obfuscates released jars with ProGuard, provokes exceptions in them, and compares the retraced
// stack traces with those of ProGuard's retrace, line by line. Every difference must be a known one.
//
// Invariant: Retraced stack traces are those of ProGuard's retrace, except for differences that the test names.
func TestCorpusProGuard(t *testing.T) {
	nightly.Only(t, "classes")
	jdk := oracle.NeedJDK(t, 17)
	proguard := oracle.FindProGuard(t, jdk)
	names := []string{"jackson-core-2.19.0"}
	if corpus.IsFull() {
		names = append(names, "commons-collections-2.1", "bsh-1.3.0")
	}
	for _, jar := range corpus.Need(t, names...) {
		t.Run(jar.Name, func(t *testing.T) { compare(t, jdk, proguard, jar) })
	}
}

func compare(t *testing.T, jdk oracle.JDK, proguard oracle.ProGuard, jar corpus.Jar) {
	dir := t.TempDir()
	out, mapping, traces := filepath.Join(dir, "out.jar"), filepath.Join(dir, "mapping.txt"),
		filepath.Join(dir, "traces")
	oracle.Require(t, proguard.Obfuscate(t.Context(), jar.Classes, out, mapping))
	oracle.Provoke(t, jdk, out, traces)
	text := fixture.Read(t, traces)
	m, err := r8.Load(mapping)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	theirs := split(t, context.Background(), proguard, mapping, lines)
	same, differ := 0, map[string]int{}
	for i, line := range lines {
		ours := strings.Split(string(m.Stack().AppendLine(nil, []byte(line))), "\n")
		if slices.Equal(ours, theirs[i]) {
			if ours[0] != line {
				same++
			}
			continue
		}
		name := difference(line, ours, theirs[i])
		if differ[name]++; name == "" {
			t.Errorf("%q\nours   %q\ntheirs %q", line, ours, theirs[i])
		}
	}
	t.Logf("measured: %s: %d different lines become what ProGuard's retrace makes of them, others differ: %v",
		jar.Name, same, differ)
	if same < 100 {
		t.Errorf("only %d lines to compare", same)
	}
}

// split retraces lines with ProGuard and returns the result of each line.
func split(t *testing.T, ctx context.Context, proguard oracle.ProGuard, mapping string, lines []string) [][]string {
	var text strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&text, "%s\n= %d =\n", line, i)
	}
	retraced, err := proguard.Retrace(ctx, mapping, text.String())
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`\n= \d+ =\n`).Split(retraced, -1)
	if len(parts) != len(lines)+1 {
		t.Fatalf("%d lines became %d", len(lines), len(parts)-1)
	}
	var all [][]string
	for _, part := range parts[:len(lines)] {
		all = append(all, strings.Split(part, "\n"))
	}
	return all
}

// difference returns the reason why a line is retraced otherwise than by ProGuard; "" if the difference is not a
// known one.
func difference(line string, ours, theirs []string) string {
	if !strings.HasPrefix(strings.TrimSpace(line), "at ") {
		if ours[0] == line {
			return "a message is not changed"
		}
		return ""
	}
	before, _, _ := strings.Cut(line, "(")
	if after, _, _ := strings.Cut(theirs[0], "("); ours[0] == line && before == after {
		return "a class that is not in the mapping keeps its source file"
	}
	for i := range ours {
		ours[i] = strings.Replace(ours[i], "<OR> ", "", 1)
		// ProGuard omits the beginning of an alternative if it equals that of the one before.
		if !slices.ContainsFunc(theirs,
			func(s string) bool { return strings.HasSuffix(ours[i], strings.TrimSpace(s)) }) {
			return ""
		}
	}
	switch numbered := regexp.MustCompile(`:\d+\)$`).MatchString(line); {
	case len(ours) == len(theirs):
		return "alternatives are marked with <OR>, and sorted"
	case len(slices.Compact(slices.Sorted(slices.Values(theirs)))) == len(ours):
		return "alternatives that are equal are shown once"
	case numbered:
		return "a method without lines is no alternative where another's lines fit"
	}
	return "without a line, inlined methods are no alternatives, and equal ones are shown once"
}
