package filter_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
)

// TestMessageRules reads rules for messages, which decide nothing about tracing.
func TestMessageRules(t *testing.T) {
	read := func(text string) ([]filter.Rule, error) {
		c, err := filter.ParseConfig("t.yml", []byte(text), nil, nil)
		return c.Rules, err
	}
	rules, err := read("rules:\n- block: a.**\n- message: a.Server#handle*\n- allow: a.B\n- message: \"**#run()\"\n")
	if err != nil || len(rules) != 4 {
		t.Fatal(rules, err)
	}
	messages := filter.MessageRules(rules)
	if len(messages) != 2 || messages[0].String() != "t.yml:3: message a.Server#handle*" {
		t.Fatal(messages)
	}
	for _, c := range []struct {
		class, name, descriptor string
		want                    bool
	}{
		{"a/Server", "handle", "()V", true}, {"a/Server$Inner", "handleOne", "(I)V", true},
		{"a/Servers", "handle", "()V", false}, {"a/Server", "start", "()V", false},
	} {
		if got := messages[0].MatchMethod(c.class, c.name, c.descriptor); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
	if !messages[1].MatchMethod("X", "run", "()V") || messages[1].MatchMethod("X", "run", "(I)V") {
		t.Error("parameters are not compared")
	}
	for text, want := range map[string]string{
		"rules:\n- message: a.Server\n":            "t.yml:2: message a.Server: name a method: CLASS#METHOD",
		"rules:\n- message: { annotation: a.B }\n": "conditions are not supported",
		"rules:\n- message: a.B#\n":                "no method name after #",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
