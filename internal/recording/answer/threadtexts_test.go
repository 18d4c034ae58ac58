package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
)

// threadTexts are texts with the stacks of all threads, by file. Those whose names begin with jdk are what the JDKs 8,
// 11, 17, 21 and 25 wrote of testdata/Situations.java: the name has the JDK, the situation, and what wrote it. The
// others have the notations of other programs, with names of our own.
func threadTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/threads/*")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		data := fixture.Read(t, file)
		texts[filepath.Base(file)] = string(data)
	}
	return texts
}

// answerOf says in lines what is read of a text: for each process how many threads are in which state, how many locks
// are held and waited for, and whether there is a deadlock.
func answerOf(text string) string {
	var b strings.Builder
	dump := foreign.ParseDump(text)
	processes := resolve.ReadTrace(text, nil)
	if len(processes) == 0 {
		return "not understood\n"
	}
	for k, p := range dump.Processes {
		states := map[string]int{}
		var order []string
		held, waited, frames := 0, 0, 0
		for _, t := range p.Threads {
			state := cmp.Or(t.State, "?")
			if states[state]++; states[state] == 1 {
				order = append(order, state)
			}
			held += len(t.Locked)
			frames += len(t.Frames)
			if t.Waits != nil {
				waited++
			}
		}
		for i, state := range order {
			order[i] = fmt.Sprintf("%d %s", states[state], state)
		}
		fmt.Fprintf(&b, "  %d threads: %s; %d frames; locks: %d held, %d waited for\n  %s: ", len(p.Threads),
			strings.Join(order, ", "), frames, held, waited, processes[k].Answer)
		for i, c := range processes[k].Deadlocks {
			fmt.Fprintf(&b, "%s%s", strings.Repeat("; ", min(i, 1)), resolve.DeadlockText(c))
		}
		if len(processes[k].Deadlocks) == 0 {
			b.WriteString(noCircle(processes[k]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// deadlocked are the situations with a deadlock, by a part of their file's name. The notation may not show it: then the
// answer is that it cannot be known.
var deadlocked = []string{"rewait", "gate", "subclass", "newline", "namesakes", "monitors", "reentrant",
	"init", "main", "read-", "join", "mixed", "semaphore", "stamped", "write", "upgrade", "virtual-",
	"virtualmonitors", "deadlock", "heads-twice", "class-init", "dalvik", "blocked", "intellij", "owned-by",
	"logcat", "indented", "threadinfo", "mail", "json-", "docker", "log4j", "markdown", "html", "typographic",
	"two-dumps", "actuator", "visualvm", "jrockit", "yourkit", "bugreport", "unread", "native", "tombstone",
	"cut-off"}

// TestThreadTexts reads each text, and compares what is read with a table. No text of a deadlock is answered with no.
//
// Invariant: Whether there is a deadlock is answered by yes, no, or why the text cannot show it, for each notation of
// threads, and never by no where there is one.
func TestThreadTexts(t *testing.T) {
	texts := threadTexts(t)
	if len(texts) < 60 {
		t.Errorf("%d texts", len(texts))
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		got := answerOf(texts[name])
		fmt.Fprintf(&b, "%s\n%s", name, got)
		for _, part := range deadlocked {
			if strings.Contains(name, part) && !strings.Contains(got, "\n  yes: ") && !strings.Contains(got, "\n  unknown: ") {
				t.Errorf("%s: a deadlock is denied:\n%s", name, got)
			}
		}
	}
	golden.Compare(t, "testdata/threads.golden", b.String())
}

// eachLine returns a function that changes each line of a text.
func eachLine(change func(line string) string) func(text string) string {
	return func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(change(strings.TrimSuffix(line, "\n")) + "\n")
		}
		return b.String()
	}
}

func before(prefix string) func(text string) string {
	return eachLine(func(line string) string { return prefix + line })
}

func jsonOf(t *testing.T, value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCarriedThreadTexts: what carries a text does not change what is read of it.
//
// Invariant: Threads are read in the same way behind a byte order mark, indented, quoted, logged, marked up, in JSON.
func TestCarriedThreadTexts(t *testing.T) {
	lines := map[string]func(string) string{
		"indented": before("\t    "), "mail": before("> "), "an answer to mail": before("> > "),
		"logcat":         before("07-01 09:00:01.123  1200  1207 I art     : "),
		"short logcat":   before("I/art     ( 1200): "),
		"Android Studio": before("2026-07-01 09:00:01.123  1200-1207  art  shop.demo.app  I  "),
		"an editor":      before("12: "),
		"docker":         before("app-1  | "), "a time": before("2026-07-01T09:00:01.123Z "),
		"a logger":    before("2026-07-01 09:00:01,123 INFO [watchdog-1] shop.Watchdog - "),
		"journalctl":  before("Jul 01 09:00:01 host app[123]: "),
		"Spring Boot": before("2026-07-01T09:00:01.123+02:00  INFO 4711 --- [shop] [  main] shop.Watchdog : "),
		"logback":     before("09:00:01.123 [main] INFO  shop.Watchdog -- "),
		"a pod":       before("[pod/app-1/app] "),
		"HTML":        func(text string) string { return "<pre>\n" + html.EscapeString(text) + "</pre>\n" },
		"colours":     eachLine(func(line string) string { return "\x1b[31m" + line + "\x1b[0m" }),
		"a log of docker": eachLine(func(line string) string {
			return jsonOf(t, map[string]any{"stream": "stdout", "log": line + "\n", "time": "2026-07-01T09:00:01.123Z"})
		}),
		"a log in JSON": eachLine(func(line string) string {
			return jsonOf(t, map[string]any{"level": "info", "message": line, "@timestamp": "2026-07-01T09:00:01.123Z"})
		}),
		"a string of JSON": func(text string) string {
			return jsonOf(t, map[string]any{"id": 7, "trace": text})
		},
		"a string in a string, in a log": func(text string) string {
			return "ERROR " + jsonOf(t, map[string]any{"m": jsonOf(t, map[string]any{"trace": text})})
		},
		"a piece of JSON": func(text string) string { return `"trace": ` + jsonOf(t, text) + `, "id": 7` },
		"lines of JSON": func(text string) string {
			return jsonOf(t, []any{"before", strings.Split(text, "\n")})
		},
	}
	whole := map[string]func(string) string{
		"CRLF":  eachLine(func(line string) string { return line + "\r" }),
		"UTF-8": func(text string) string { return "\uFEFF" + text },
	}
	checked := 0
	texts := threadTexts(t)
	for n, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		want := answerOf(text)
		ways := maps.Clone(whole)
		if !strings.HasPrefix(text, "{") && name != "html.txt" && name != "json-nested-cut.txt" {
			maps.Copy(ways, lines)
		}
		for k, way := range slices.Sorted(maps.Keys(ways)) {
			if (k+n)%3 > 0 {
				continue // each way is tried with every third text
			}
			checked++
			if diff := gocmp.Diff(want, answerOf(ways[way](text))); diff != "" {
				t.Errorf("%s, %s: %s", name, way, diff)
			}
		}
	}
	t.Logf("measured: %d carried texts", checked)
}

// TestDamagedThreadTexts takes a line out of each text of a deadlock, cuts one, or all that follows: it may not be
// known any more that there is a deadlock, but none is denied. Where heads are gone there are other threads, and where
// all is gone before the first lock, none of them is in a deadlock.
//
// Invariant: Whether there is a deadlock is answered by yes, no, or why the text cannot show it, for each notation of
// threads, and never by no where there is one.
func TestDamagedThreadTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for name, text := range threadTexts(t) {
		if got := answerOf(text); strings.Contains(got, "\n  no: ") || !strings.Contains(got, "\n  yes: ") {
			continue
		}
		lines := strings.SplitAfter(text, "\n")
		for k, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), `"`) || r.IntN(3) > 0 {
				continue
			}
			cut := []string{"", line[:len(line)*r.IntN(100)/100] + "\n"}[r.IntN(2)]
			damaged := strings.Join(lines[:k], "") + cut + strings.Join(lines[k+1:], "")
			if r.IntN(4) == 0 && strings.Contains(strings.Join(lines[:k], ""), "waiting to lock") {
				damaged = strings.Join(lines[:k], "")
			}
			checked++
			if got := answerOf(damaged); strings.Contains(got, "\n  no: ") {
				t.Errorf("%s with %q for line %d: %s", name, cut, k+1, got)
			}
		}
	}
	t.Logf("measured: %d damaged texts", checked)
}
