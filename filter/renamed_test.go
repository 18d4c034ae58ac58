package filter

import (
	"testing"

	"github.com/tracegen/tracegen/mapping/r8"
)

// TestRenamedClasses checks rules with original names on classes that a shrinker has renamed.
//
// Invariant: Rules match renamed classes by their original names.
func TestRenamedClasses(t *testing.T) {
	by, err := r8.Parse("test", `com.example.Feed -> a.a:
    void load() -> a
    void com.example.util.Text.trim() -> b
    void access$000() -> c
com.example.BaseScreen -> a.s:
com.example.Slow -> a.n:
com.example.R -> a.r:
dev.tracegen.runtime.Clock -> a.t:
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		rule, class, method string
		want                Reason
	}{
		{"-com.example.Feed", "a/a", "a", ReasonBlocked},
		{"-a.a", "a/a", "a", ""},
		{"-com.example.Feed#load()V", "a/a", "a", ReasonBlocked},
		{"-com.example.Feed#a", "a/a", "a", ""},
		{"-**#load", "a/a", "a", ReasonBlocked},
		{"-com.example.util.**", "a/a", "b", ReasonBlocked}, // merged into the class
		{"-com.example.util.**", "a/a", "a", ""},
		{"-com.example.Feed", "a/a", "b", ""},
		{"-com.example.Feed", "a/a", "unlisted", ReasonBlocked},
		{"-kept.K", "kept/K", "k", ReasonBlocked},
		{"", "a/t", "now", ReasonRuntime},
		{"", "dev/other/T", "now", ""},
		{"", "a/r", "<clinit>", ReasonGenerated},
	} {
		options := Options{R8: by}
		if row.rule != "" {
			options.Rules = parseRules(t, row.rule)
		}
		a := &assembler{}
		a.busy(row.method)
		c := a.shaped(t, shape{name: row.class})
		cf := New(options).ForClass(c)
		body, _, err := c.Code(&c.Methods()[0])
		if err != nil {
			t.Fatal(err)
		}
		got := cf.Decide(&c.Methods()[0], body)
		if got.Reason != row.want {
			t.Errorf("%s: %s.%s: %q (%s), want %q", row.rule, row.class, row.method, got.Reason, got.Detail, row.want)
		}
		if whole, ok := cf.Whole(); ok && whole.Reason != got.Reason {
			t.Errorf("%s: %s: as a whole %q, %s %q", row.rule, row.class, whole.Reason, row.method, got.Reason)
		}
	}
	// Rules on supertypes and annotations use original names, too.
	config, err := ParseConfig("t.yml", []byte("rules:\n  - block: { extends: com.example.BaseScreen }\n  - block: "+
		"{ annotation: com.example.Slow }\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []shape{{name: "a/x", super: "a/s"}, {name: "a/y", annotations: []string{"a/n"}}, {name: "a/z"}} {
		a := &assembler{}
		a.busy("run")
		c := a.shaped(t, s)
		cf := New(Options{R8: by, Rules: config.Rules}).ForClass(c)
		body, _, _ := c.Code(&c.Methods()[0])
		if got := cf.Decide(&c.Methods()[0], body); (got.Reason == ReasonBlocked) != (s.name != "a/z") {
			t.Errorf("%s: %q", s.name, got.Reason)
		}
	}
}
