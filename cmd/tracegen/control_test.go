package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/tape"
)

// evil resets a terminal, and rings its bell, wherever it stands in a text. No character of it ends a name.
const evil = "\x1bc\a"

// raw finds what a text for people must not have: the control characters but line feed and tab.
func raw(text string) string {
	i := strings.IndexFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' })
	if i < 0 {
		return ""
	}
	return text[max(0, i-60):min(len(text), i+20)]
}

// shown runs a command in the current directory, and wants no control character in its texts, and the exit code if it
// is not negative.
func shown(t *testing.T, code int, stdin string, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := runTool(context.Background(), args, strings.NewReader(stdin), &out, &errs); code >= 0 && got != code {
		t.Errorf("tracegen %q ends with %d, want %d:\n%s", args, got, code, &errs)
	}
	if found := raw(out.String() + errs.String()); found != "" {
		t.Errorf("tracegen %q prints %q", args, found)
	}
}

// evilTape has the marker in each text of a recording.
const evilTape = `
meta mappingId=EVIL package=pEVIL versionName=1EVIL device=dEVIL EVIL=EVIL user=uEVIL process=xEVIL
clock now=0 wall=1700000000000
thread index=0 name=mainEVIL main=1
thread index=1 name=otherEVIL
records thread=0 list="+1@10 +2@20 -2@2000 -1@2100"
message thread=0 sequence=1 count=1 begin=10 wall=2090 cpu=1000 what="aEVIL.bEVIL"
sample time=1000 thread=0 state=BLOCKED stack="aEVIL.bEVIL.cEVIL(dEVIL.java:7) a.B.run(B.java:1)"
pending thread=0 message=1 available=1
waits due=20 what=7 target="tEVIL" callback="cEVIL"
stall kind=1 thread=0 sequence=1 begin=10 wall=2090 cpu=1000 first=0 end=4 what="aEVIL" scene="sEVIL" state=BLOCKED owner="oEVIL" key="kEVIL"
alive now=2200 wall=100 thread=0 message=2 begin=2150 what="hEVIL"
exit reason="rEVIL" description="dEVIL" joinedBy="jEVIL" trace="'mainEVIL' prio=5 tid=1 SleepingEVIL\n  at aEVIL.bEVIL(cEVIL.java:1)"
detectors EVIL=EVIL message=on
incident number=1 detector=watchdogEVIL kind=kEVIL what=wEVIL thread=0 begin=10 end=2000 first=0 stop=4 scene=sEVIL
fact EVIL=EVIL
stack thread=zEVIL time=100 state=BLOCKED stack="aEVIL.b.c(dEVIL.java:7)"
machine thread=0 message=1 time=100 facts="kEVIL vEVIL"
end
`

// TestNoControlCharacterIsPrinted walks over the commands that print texts of others, and over the texts: names of
// files, entries, classes, methods, sources, rules, releases, and all that recordings, reports, and logs have. Only
// symbolize prints what it reads as it is.
//
// Invariant: No text of a class, archive, mapping, recording, report, or log sends commands to a terminal.
func TestNoControlCharacterIsPrinted(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	marked := func(text string) []byte { return []byte(strings.ReplaceAll(text, "EVIL", evil)) }
	class := func(name, code string) []byte {
		c := assembly.Class{Major: 52, Name: name, Super: "java/lang/Object", Methods: []assembly.Method{
			{Access: 9, Name: "run" + evil, Descriptor: "(Lp" + evil + "/T;)V", Stack: 2, Locals: 2, Code: code},
			{Access: 9, Name: "long" + evil, Descriptor: "()V", Stack: 2, Locals: 2, Code: code}}}
		return c.Bytes()
	}
	in := "in" + evil + ".jar"
	fixture.Write(t, in, fixture.ZipOf(t, map[string][]byte{
		"p/A" + evil + ".class":   class("p/A"+evil, "invokestatic p/T.m()V\nreturn"),
		"p/Bad" + evil + ".class": class("p/Bad"+evil, "pop\nreturn"), "t" + evil + ".txt": {1},
		"short" + evil + ".class": {0xCA, 0xFE, 0xBA, 0xBE}}))
	fixture.Write(t, "rules.yml", `rules: [{block: "zz\x1bc.**"}]`+"\n")
	fixture.Write(t, "list.txt", marked("[package]\n-keeppackage xEVIL/y\nnonsense EVIL\n"))
	fixture.Write(t, "bad.yml", `"ru\x1bcles": "x\x1bc"`)
	recording, err := tape.Make(string(marked(evilTape)))
	if err != nil {
		t.Fatal(err)
	}
	tgd := "r" + evil + ".tgd"
	fixture.Write(t, tgd, recording)
	r8 := "r8" + evil + ".txt"
	fixture.Write(t, r8, marked("aEVIL.B -> a.EVIL:\n    1:2:void rEVIL(int):3:4 -> xEVIL\n"))
	push := []string{"mappings", "push", "m.txt", "--archive", "arch" + evil, "--version", "1" + evil,
		"--variant", "v" + evil}

	for _, row := range []struct {
		code int
		args []string
	}{
		{0, []string{"instrument", in, "-o", "out" + evil + ".jar", "--mapping", "m" + evil + ".txt", "--reports", "lists",
			"-v", "--r8-mapping", r8}},
		{2, []string{"instrument", in, "-o", "x.jar", "--config", "rules.yml"}},
		{0, []string{"instrument", in, "-o", "out.jar", "--mapping", "m.txt", "-v", "--set", "trivial=none"}},
		{2, []string{"instrument", in, "-o", "x.jar", "--blocklist", "list.txt"}},
		{2, []string{"instrument", in, "-o", "x.jar", "--config", "bad.yml"}},
		{2, []string{"instrument", "no" + evil + ".jar", "-o", "x.jar"}},
		{2, []string{"instrument", in, "-o", "x.jar", "--" + evil}},
		{0, []string{"scan", in, "-o", "a" + evil + ".scan", "-v", "--set", "trivial=none"}},
		{0, []string{"assign", "a" + evil + ".scan", "--slices", "ids" + evil, "-o", "assigned.txt", "--runtime-external"}},
		{1, []string{"verify", in, "-v"}},
		{0, []string{"strip", "out.jar", "-o", "back" + evil + ".jar"}},
		{1, []string{"strip", "--check", "out.jar", in}},
		{0, []string{"explain", in, "--method", "p.A" + evil + "#run" + evil}},
		{1, []string{"explain", in, "--method", "zz" + evil}},
		{0, []string{"lookup", "--mapping", "m.txt", "**#run*"}},
		{0, []string{"lookup", "--mapping", "m.txt", "p.A" + evil}},
		{1, []string{"lookup", "--mapping", "m.txt", "zz" + evil}},
		{0, []string{"diff", "m.txt", "m.txt"}},
		{0, []string{"diff", "m.txt", "m" + evil + ".txt"}},
		{0, []string{"analyze", tgd, "--mapping", "m.txt", "--force", "--r8-mapping", r8}},
		{0, []string{"analyze", tgd, "--mapping", "m.txt", "--force", "--profile", "profile" + evil + ".txt"}},
		{2, []string{"analyze", tgd, "--mapping", "m.txt"}},
		{0, []string{"group", tgd, "--mapping", "m.txt", "--force"}},
		{0, []string{"compare", tgd, tgd, "--mapping", "m.txt", "--force"}},
		{0, push}, {0, push},
		{0, []string{"mappings", "list", "--archive", "arch" + evil}},
		{0, []string{"mappings", "pull", "--latest", "--archive", "arch" + evil, "-o", "pulled" + evil + "/"}},
		{1, []string{"mappings", "pull", "--version", "2" + evil, "--archive", "arch" + evil, "-o", "pulled.txt"}},
		{0, []string{"runtime", "-o", "runtime" + evil + "/"}},
		{2, []string{"no" + evil}},
		{2, []string{"record", "--", "no" + evil}},
		{2, []string{"record", "--also", "no" + evil, "--", "sh", "-c", "exit 3"}},
		{2, []string{"collect", "--store", "s" + evil, "--token-file", "no" + evil}},
		{2, []string{"symbolize", "no" + evil, "--mapping", "m.txt"}},
	} {
		shown(t, row.code, "", row.args...)
	}
	texts, err := filepath.Glob(filepath.Join(root, "internal/recording/source/testdata/reports/*.txt"))
	if err != nil || len(texts) < 8 {
		t.Fatalf("%d texts of other tools: %v", len(texts), err)
	}
	word := regexp.MustCompile(`[A-Za-z0-9_)]+`)
	for _, name := range texts {
		text := fixture.Read(t, name)
		// Each fourth word has the marker, in four turns, so that what it marks is still understood.
		for turn := range 4 {
			i := 0
			marked := word.ReplaceAllFunc(text, func(w []byte) []byte {
				if i++; i%4 != turn {
					return w
				}
				return append(bytes.Clone(w), evil...)
			})
			shown(t, -1, string(marked), "analyze", "-", "--mapping", "m.txt")
			fixture.Write(t, "log.txt", marked)
			shown(t, -1, "", "group", "log.txt", "--mapping", "m.txt")
		}
	}
}
