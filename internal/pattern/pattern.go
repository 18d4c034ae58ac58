// Package pattern has regular expressions that are compiled when they are first used. A package with many of them would
// otherwise delay the start of every command, also of those that use none.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that returns the compiled expression. The expression must be one that compiles.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
