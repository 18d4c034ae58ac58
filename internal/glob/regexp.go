package glob

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled expression, which must be one that compiles. It is compiled when
// it is first used: a package with many expressions would otherwise delay the start of every command.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
