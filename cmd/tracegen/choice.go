package main

import (
	"fmt"
	"strings"
)

// named is a value of a flag and the word for it.
type named[T comparable] struct {
	name  string
	value T
}

// choice is a flag whose value is one of a few words. Parsing, the error message, help and shell completion all use the
// same list.
type choice[T comparable] struct {
	target *T
	values []named[T]
}

// newChoice returns a flag value that sets target. It sets target to the default at once.
func newChoice[T comparable](target *T, standard T, values ...named[T]) *choice[T] {
	*target = standard
	return &choice[T]{target, values}
}

// byName returns the values of a choice whose words are the values' own names.
func byName[T interface {
	comparable
	fmt.Stringer
}](values []T) (all []named[T]) {
	for _, v := range values {
		all = append(all, named[T]{v.String(), v})
	}
	return all
}

// Set implements pflag.Value.
func (c *choice[T]) Set(text string) error {
	for _, v := range c.values {
		if v.name == text {
			*c.target = v.value
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.names(), ", "))
}

// String implements pflag.Value.
func (c *choice[T]) String() string {
	if c.target != nil {
		for _, v := range c.values {
			if v.value == *c.target {
				return v.name
			}
		}
	}
	return ""
}

// Type implements pflag.Value. The help shows it behind the flag's name.
func (c *choice[T]) Type() string { return strings.Join(c.names(), "|") }

func (c *choice[T]) names() []string {
	names := make([]string, len(c.values))
	for i, v := range c.values {
		names[i] = v.name
	}
	return names
}
