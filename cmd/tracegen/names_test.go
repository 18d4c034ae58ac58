package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestNamesAreAcceptedAsShown calls the commands that take names of classes and methods with odd names, as they show
// them, and as source code has them.
//
// Invariant: A name in the notation in which tracegen shows it is accepted wherever a name is.
func TestNamesAreAcceptedAsShown(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []struct{ class, method, shown string }{
		{"chat/Plain", "run", "chat.Plain#run"},
		{"chat/My Api", "get a", "chat.My%20Api#get%20a"},
		{"chat/a, b", "get a, b", "chat.a%2C%20b#get%20a%2C%20b"},
		{"chat/漢字", "かな", "chat.漢字#かな"},
		{"chat/50%", "50%ff", "chat.50%25#50%25ff"},
		{"chat/a-b=c", "priced-PUiSbYQ", "chat.a-b=c#priced-PUiSbYQ"},
		{"chat/x'y!z", "a|b", "chat.x'y!z#a|b"},
		{"chat/ä$ö", "$x", "chat.ä$ö#$x"},
		{"chat/Hash#Tag", "a#b", "chat.Hash%23Tag#a%23b"},
	}
	fixture.Directory(t, "chat")
	for _, n := range names {
		c := assembly.Class{Major: 52, Name: n.class, Super: "java/lang/Object", Methods: []assembly.Method{
			{Access: 9, Name: n.method, Descriptor: "()V", Stack: 1, Locals: 1, Code: "invokestatic p/T.m()V|return"}}}
		fixture.Write(t, n.class+".class", c.Bytes())
	}
	run := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := runTool(context.Background(), args, strings.NewReader(""), &out, &errs); code != want {
			t.Errorf("tracegen %q ends with %d, want %d: %s%s", args, code, want, &out, &errs)
		}
		return out.String() + errs.String()
	}
	run(0, "instrument", "chat", "-o", "out", "--mapping", "m.txt", "--runtime-external")
	for _, n := range names {
		class, method, _ := strings.Cut(n.shown, "#")
		typed := strings.ReplaceAll(n.class, "/", ".")
		forms := []string{n.shown, n.shown + "()V"}
		if !strings.Contains(n.class, "%") && !strings.Contains(n.class, "#") {
			forms = append(forms, typed+"#"+n.method)
		}
		for _, form := range forms {
			if text := run(0, "lookup", "--mapping", "m.txt", form); !strings.Contains(text, class+" "+method+" ()V") {
				t.Errorf("lookup %s: %s", form, text)
			}
			if text := run(0, "explain", "chat", "--runtime-external", "--method", form); !strings.Contains(text, "traced") {
				t.Errorf("explain %s: %s", form, text)
			}
			rule := `rules: [{block: "` + form + `"}]`
			fixture.Write(t, "rule.yml", rule+"\n")
			text := run(0, "instrument", "chat", "-o", "blocked", "--mapping", "b.txt", "--runtime-external", "--config",
				"rule.yml")
			if !strings.Contains(text, "1 blocked") {
				t.Errorf("rule %s: %s", form, text)
			}
		}
		if strings.ContainsAny(n.class, "%#,") {
			typed = class
		}
		for _, form := range []string{class, typed} {
			run(0, "lookup", "--mapping", "m.txt", form)
			run(0, "explain", "chat", "--runtime-external", "--method", form)
		}
	}
	many := append([]string{"lookup", "--mapping", "m.txt"}, strings.Fields(strings.Repeat("priced ", 12))...)
	if n := strings.Count(run(1, many...), "did you mean"); n != 10 {
		t.Errorf("%d of 12 patterns have suggestions, want those of the first 10", n)
	}
	if text := run(1, "lookup", "--mapping", "m.txt", "priced"); !strings.Contains(text, "did you mean") {
		t.Error(text)
	}
}
