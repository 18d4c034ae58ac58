package mapping

import (
	"fmt"
	"testing"
)

// TestMatch checks that Match and MatchClass match the methods that Find yields.
func TestMatch(t *testing.T) {
	list := append(methods("com/app/Foo|bar|(I)V", "com/app/Foo|baz|()V", "com/app/Foo$In|bar|()V", "com/app|Foo|()V",
		"Foo|bar|()I"), oddNames...)
	m := mustAssign(t, list, Options{})
	for _, text := range []string{"com.app.Foo", "com.app.Foo.bar", "com.app.Foo#bar", "com.app.Foo#bar(I)",
		"com/app/Foo#bar(I)V", "com.app.**#b*", "#bar",
		"Foo", "com.app.*#*(**)V", "com.app.Foo bar (I)V", "/Foo.*V$/", "/nothing/", "com.app", "**", "17", "1-200"} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		found := map[Identity]bool{}
		for e := range m.Find(p) {
			if e.ID != DispatchID && !p.ByID() {
				found[e.Identity] = true
			}
		}
		for _, method := range list {
			if got := p.Match(method.Identity); got != found[method.Identity] {
				t.Errorf("%s: %v: Match %v", text, method.Identity, got)
			} else if got && !p.MatchClass(method.Class) {
				t.Errorf("%s: %v is matched, its class is not", text, method.Identity)
			}
		}
	}
	for text, want := range map[string]bool{"com.app.Foo.bar": false, "com.app.Foo": true, "com.app.*": true,
		"com.app.F": false, "#x": true} {
		p, _ := ParsePattern(text)
		if got := p.MatchClass("com/app/Bar"); got != (want && text != "com.app.Foo") {
			t.Error(fmt.Sprint(text, " matches com.app.Bar: ", got))
		}
	}
}
