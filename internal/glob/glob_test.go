package glob

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

func TestMatch(t *testing.T) {
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"com.**.Foo", "com.Foo", true},
		{"com.**.Foo", "com.a.b.Foo", true},
		{"com.**.Foo", "comFoo", false},
		{"com.**.Foo", "com.aFoo", false},
		{"**.Foo", "Foo", true},
		{"**.Foo", "a.Foo", true},
		{"**.Foo", "aFoo", false},
		{"com.**", "com.a.B", true},
		{"com.**", "com", false},
		{"com.*", "com.a.B", false},
		{"com.a**", "com.ab.C", true},
		{"(**)V", "(ILjava.lang.String;)V", true},
		{"(I**)V", "(I)V", true},
		{"F?o", "F.o", false},
		{"F?o", "F名o", true},
	} {
		if got := Match(row.pattern, row.name, '.'); got != row.want {
			t.Errorf("%s matches %s: %v", row.pattern, row.name, got)
		}
	}
}

func random(rng *rand.Rand, letters string) string {
	var b strings.Builder
	for range rng.IntN(10) {
		b.WriteByte(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

// expression returns the equivalent regular expression.
func expression(pattern string) string {
	var expr strings.Builder
	for p := 0; p < len(pattern); {
		n := len(pattern[p:]) - len(strings.TrimLeft(pattern[p:], "*"))
		switch {
		case n > 1 && (p == 0 || pattern[p-1] == '.') && p+n < len(pattern) && pattern[p+n] == '.':
			expr.WriteString(`(?:[^.]*\.)*`)
			n++
		case n > 1:
			expr.WriteString(`(?s:.*)`)
		case n == 1:
			expr.WriteString(`[^.]*`)
		case pattern[p] == '?':
			expr.WriteString(`[^.]`)
			n = 1
		default:
			_, n = utf8.DecodeRuneInString(pattern[p:])
			expr.WriteString(regexp.QuoteMeta(pattern[p : p+n]))
		}
		p += n
	}
	return expr.String()
}

// FuzzMatch compares matches with those of an equivalent regular expression.
//
// Invariant: Globs match as the equivalent regular expression does.
func FuzzMatch(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		f.Add(random(rng, "ab.**.?"), random(rng, "ab."))
	}
	f.Add("*??", "名")
	f.Add("a***b", "a.b")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			t.Skip("the regular expression takes UTF-8 only")
		}
		if len(pattern) > 100 || len(name) > 1000 {
			t.Skip("too slow for the regular expression")
		}
		expr := expression(pattern)
		want := regexp.MustCompile("^(?:" + expr + ")$").MatchString(name)
		if got := Match(pattern, name, '.'); got != want {
			t.Fatalf("Match(%q, %q) = %v, want %v by %s", pattern, name, got, want, expr)
		}
	})
}

// TestAgreesWithDoublestar compares matches with those of package doublestar, for patterns that both define in the same
// way: ** is a whole segment but not the last one, and no segment of the name is empty.
func TestAgreesWithDoublestar(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	segments := func(letters, deep string) string {
		list := make([]string, 1+rng.IntN(4))
		for i := range list {
			for list[i] == "" || strings.Contains(list[i], "**") && list[i] != deep {
				if list[i] = random(rng, letters); deep != "" && i < len(list)-1 && rng.IntN(4) == 0 {
					list[i] = deep
				}
			}
		}
		return strings.Join(list, "/")
	}
	matched := 0
	for range 200_000 {
		pattern, name := segments("ab*", "**"), segments("ab", "")
		if strings.HasSuffix(pattern, "**") {
			continue
		}
		want := doublestar.MatchUnvalidated(pattern, name)
		if want {
			matched++
		}
		if got := Match(pattern, name, '/'); got != want {
			t.Fatalf("Match(%q, %q) = %v, doublestar says %v", pattern, name, got, want)
		}
	}
	if matched < 1000 {
		t.Errorf("only %d names matched", matched)
	}
}

// TestMatchIsNotExponential matches patterns with many wildcards.
func TestMatchIsNotExponential(t *testing.T) {
	name := strings.Repeat("a", 65535)
	for _, pattern := range []string{"**a*b", strings.Repeat("*a", 50) + strings.Repeat("**a", 50) + "b"} {
		if Match(pattern, name, '.') {
			t.Errorf("%s matched", pattern)
		}
	}
	packages := strings.Repeat("a.", 30000) + "a"
	if Match(strings.Repeat("**.a*.", 50)+"b", packages, '.') {
		t.Error("**.a*. matched")
	}
}
