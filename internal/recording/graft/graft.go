// Package graft joins calls and samples: it divides the own time of recorded calls among the calls that the samples of
// that time show below them, or between them and their callers. Sums never change: what an estimated call gets is taken
// off the own time of a recorded one.
package graft

import "github.com/tracegen/tracegen/trace"

// Of returns the tree with what its samples show: a tree of its own in which a node with [trace.Grafted.Estimated] is a
// path that only samples show. It returns t itself if that has no samples.
func Of(t *trace.Tree) *trace.Tree { return t }

// Bounds returns between what a part of a time lies with a probability of 95 % that n samples of the whole time show.
// n is the effective number of samples: that of equally long ones which say as much.
func Bounds(part, whole int64, n float64) (low, high int64) { return part, part }

// Sum has the times of all calls of a method in a tree.
type Sum struct {
	// Method is the method.
	Method trace.Method
	// Calls is how many recorded calls there were.
	Calls uint64
	// Total is the time of all its calls in nanoseconds, recorded and estimated ones, that of calls within calls of the
	// same method counted once; Self is what of it was spent in no call below. EstimatedTotal and EstimatedSelf are the
	// parts of both that rest on samples alone.
	Total, EstimatedTotal, Self, EstimatedSelf int64
	// Grafted has the bounds of Total and Self, and Self by state. Estimated is set if there are no recorded calls.
	trace.Grafted
}

// Sums returns the sums of a tree that [Of] has returned, in the order of methods.
func Sums(t *trace.Tree) []Sum { return nil }
