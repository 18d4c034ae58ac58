package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// The words of --fail-on.
const (
	failIntroduced   = "introduced"
	failUnverifiable = "unverifiable"
)

// failOn is the flag that says which outcomes make the exit code 1.
type failOn []string

func (failOn) names() []string { return []string{failIntroduced, failUnverifiable} }

// Set implements pflag.Value. It may be called several times.
func (f *failOn) Set(text string) error {
	if !slices.Contains(f.names(), text) {
		return fmt.Errorf("must be one of %s", strings.Join(f.names(), ", "))
	}
	*f = append(*f, text)
	return nil
}

// String implements pflag.Value.
func (f *failOn) String() string { return strings.Join(*f, ",") }

// Type implements pflag.Value.
func (f *failOn) Type() string { return strings.Join(f.names(), "|") }

// judge gives the answer that was asked for. Everything has been written by then.
func (f *failOn) judge(result *pipeline.Result) error {
	if slices.Contains(*f, failIntroduced) && result.Introduced > 0 {
		return answer{fmt.Errorf("--fail-on introduced: classes that came out wrong: %d", result.Introduced)}
	}
	methods := 0
	for _, s := range result.Skipped {
		if s.Reason == filter.ReasonUnverifiable {
			methods++
		}
	}
	if slices.Contains(*f, failUnverifiable) && methods+result.Introduced+result.PreExisting > 0 {
		return answer{fmt.Errorf("--fail-on unverifiable: classes left alone: %d, methods in them: %d", result.Introduced+result.PreExisting, methods)}
	}
	return nil
}
