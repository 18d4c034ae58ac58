package main

import (
	"fmt"
	"io"
)

// target is a promise: the quotient of two rows' medians must be at most, or at least, a number.
type target struct {
	says   string
	over   string // the row above the line
	under  string // the row below
	of     func(*row) float64
	most   float64 // the quotient must not be greater; 0 for no bound
	least  float64 // the quotient must not be less
	goal   float64 // a better value to aim at; 0 for none
	detail bool    // shown with another one, and not a promise itself
}

// What quotients compare.
func wallOf(r *row) float64 { return r.median(wallSeconds) }
func cpuOf(r *row) float64  { return r.median(cpuSeconds) }
func peakOf(r *row) float64 { return r.median(peakMB) }
func sizeOf(r *row) float64 { return float64(r.work.size) }

// targets are the promises about speed. The hand-written ASM program is the fastest that we know to write, with IDs
// from a counter: one pass, and other IDs in every run. Matrix is compared by its run with jars that it can instrument
// completely; if only the run exists in which it fails for some jars, by that one, which makes Matrix look faster.
func targets(matrix string) []target {
	faster := func(says, peer string, factor float64) []target {
		return []target{
			{says: says + ", wall", over: peer, under: rowTracegen, of: wallOf, least: factor},
			{says: says + ", CPU", over: peer, under: rowTracegen, of: cpuOf, least: factor},
		}
	}
	all := []target{
		{says: "both checks, beside the floor, wall", over: rowTracegen, under: rowFloor, of: wallOf, most: 1.6,
			goal: 1.25},
		{says: "both checks, beside the floor, CPU", over: rowTracegen, under: rowFloor, of: cpuOf, detail: true},
		{says: "`--verify equivalence`, beside the floor, wall", over: rowEquivalence, under: rowFloor, of: wallOf,
			most: 1.25, goal: 1.1},
		{says: "`--verify equivalence`, beside the floor, CPU", over: rowEquivalence, under: rowFloor, of: cpuOf,
			detail: true},
	}
	all = append(all, faster("faster than Matrix with its check", matrix, 12)...)
	all = append(all, faster("faster than the expert, default flags", rowExpert, 3)...)
	all = append(all, faster("faster than the expert, C1", rowExpertC1, 1.6)...)
	return append(all,
		target{says: "with the expert's methods and dense IDs: faster than it, C1, wall", over: rowExpertC1, under: rowAll,
			of: wallOf, detail: true},
		target{says: "`--compression store`, beside the floor that stores, wall", over: rowStore, under: rowFloorStore,
			of: wallOf, detail: true},
		target{says: "`--compression fast`, beside the floor at that level, wall", over: rowFast, under: rowFloorFast,
			of: wallOf, detail: true},
		target{says: "peak memory, of Matrix's", over: rowTracegen, under: matrix, of: peakOf, most: 0.1},
		target{says: "peak memory, of the expert's", over: rowTracegen, under: rowExpert, of: peakOf, most: 0.25},
		target{says: "peak memory, of the expert's with C1", over: rowTracegen, under: rowExpertC1, of: peakOf, most: 0.25},
		target{says: "size of the output, of the expert's, with its methods and dense IDs", over: rowAll, under: rowExpert,
			of: sizeOf, most: 1.02},
	)
}

// measuredTarget is a target and the measured values.
type measuredTarget struct {
	target
	quotient  float64
	low, high float64 // of single rounds
}

// result returns met, missed, or nothing if the target has no bound.
func (j measuredTarget) result() string {
	switch {
	case j.detail:
		return ""
	case j.most > 0 && j.quotient > j.most, j.least > 0 && j.quotient < j.least:
		return "**missed**"
	case j.goal > 0 && j.quotient <= j.goal:
		return "met, and the goal"
	}
	return "met"
}

// wanted returns the target in words.
func (j measuredTarget) wanted() string {
	switch {
	case j.detail:
		return ""
	case j.least > 0:
		return fmt.Sprintf("≥ %g", j.least)
	case j.goal > 0:
		return fmt.Sprintf("≤ %g, goal %g", j.most, j.goal)
	}
	return fmt.Sprintf("≤ %g", j.most)
}

// rounds returns the row with its runs from one round up to another.
func (r *row) rounds(from, to int) row { return row{work: r.work, runs: r.runs[from:to]} }

// evaluate computes the targets for an input, if both rows were measured, from the rounds in which both have a run.
func (r *record) evaluate(input string) []measuredTarget {
	matrix := rowMatrix
	if r.row(input, matrix) == nil {
		matrix = rowMatrixAsIs
	}
	var all []measuredTarget
	for _, t := range targets(matrix) {
		over, under := r.row(input, t.over), r.row(input, t.under)
		if over == nil || under == nil || t.of(under) == 0 {
			continue
		}
		rounds := min(len(over.runs), len(under.runs))
		a, b := over.rounds(0, rounds), under.rounds(0, rounds)
		j := measuredTarget{target: t, quotient: t.of(&a) / t.of(&b)}
		j.low, j.high = j.quotient, j.quotient
		for n := range rounds {
			a, b := over.rounds(n, n+1), under.rounds(n, n+1)
			q := t.of(&a) / t.of(&b)
			j.low, j.high = min(j.low, q), max(j.high, q)
		}
		all = append(all, j)
	}
	return all
}

// printVerdicts writes the table of targets.
func (r *record) printVerdicts(w io.Writer, input string) {
	all := r.evaluate(input)
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\n| | quotient of medians | of single rounds | asked for | |\n|---|---|---|---|---|")
	for _, j := range all {
		fmt.Fprintf(w, "| %s | **%s** | %s to %s | %s | %s |\n", j.says, figure(j.quotient), figure(j.low), figure(j.high),
			j.wanted(), j.result())
	}
}

// figure returns a number with three significant digits.
func figure(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	case f >= 0.995:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3f", f)
}
