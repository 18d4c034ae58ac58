package cli

import (
	"fmt"
	"strings"
)

// Named is a Value of a flag and its Name, the word for it.
type Named[T comparable] struct {
	Name  string
	Value T
}

// Word returns a value of a flag and the word for it.
func Word[T comparable](name string, value T) Named[T] { return Named[T]{name, value} }

// choice is a flag whose value is one of a few words. Parsing, the error message, help and shell completion all use the
// same list.
type choice[T comparable] struct {
	target *T
	values []Named[T]
}

// newChoice returns a flag value that sets target. It sets target to the default at once.
func newChoice[T comparable](target *T, standard T, values ...Named[T]) *choice[T] {
	*target = standard
	return &choice[T]{target, values}
}

// ByName returns the values of a choice whose words are the values' own names.
func ByName[T interface {
	comparable
	fmt.Stringer
}](values []T) (all []Named[T]) {
	for _, v := range values {
		all = append(all, Named[T]{v.String(), v})
	}
	return all
}

// Set implements pflag.Value.
func (c *choice[T]) Set(text string) error {
	for _, v := range c.values {
		if v.Name == text {
			*c.target = v.Value
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.Names(), ", "))
}

// String implements pflag.Value.
func (c *choice[T]) String() string {
	if c.target != nil {
		for _, v := range c.values {
			if v.Value == *c.target {
				return v.Name
			}
		}
	}
	return ""
}

// Type implements pflag.Value. The help shows it behind the flag's name.
func (c *choice[T]) Type() string { return strings.Join(c.Names(), "|") }

func (c *choice[T]) Names() []string {
	names := make([]string, len(c.values))
	for i, v := range c.values {
		names[i] = v.Name
	}
	return names
}
