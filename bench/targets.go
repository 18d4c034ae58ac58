package main

import (
	"fmt"
	"io"
	"strings"
)

// target is a promise: the quotient of two rows' medians must be at most, or at least, a number.
type target struct {
	says   string
	over   string // the row above the line
	under  string // the row below; empty if the figure of the row above is compared with the number
	or     string // another row below, which is used if its figure is less
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

// targets are the promises about speed with an input. The hand-written ASM program is the fastest that we know to
// write, with IDs from a counter: one pass, and other IDs in every run. Matrix is compared by its run with jars that it
// can instrument completely; if only the run exists in which it fails for some jars, by that one, which makes Matrix
// look faster.
func targets(input, matrix string) []target {
	all := deflatedTargets()
	c1 := 1.6
	if strings.HasPrefix(input, storedPrefix) {
		all = storedTargets()
		c1 = 2
	}
	all = append(all, faster("faster than Matrix with its check", matrix, 12, 12)...)
	all = append(all, faster("faster than the expert, default flags", rowExpert, 3, 3)...)
	all = append(all, faster("faster than the expert, C1", rowExpertC1, c1, 1.6)...)
	if input != corpusInput && input != storedPrefix+corpusInput {
		all = append(all, target{says: "peak memory with one jar, MB", over: rowTracegen, of: peakOf, most: 150})
	}
	return append(all, sharedTargets(matrix)...)
}

// faster returns the targets that tracegen is faster than a peer by a factor of wall time and one of CPU time.
func faster(says, peer string, wall, cpu float64) []target {
	return []target{
		{says: says + ", wall", over: peer, under: rowTracegen, of: wallOf, least: wall},
		{says: says + ", CPU", over: peer, under: rowTracegen, of: cpuOf, least: cpu},
	}
}

// deflatedTargets are those for which the input's entries are inflated and deflated.
func deflatedTargets() []target {
	return []target{
		{says: "both checks, beside the floor, wall", over: rowTracegen, under: rowFloor, of: wallOf, most: 1.15},
		{says: "both checks, beside the floor, CPU", over: rowTracegen, under: rowFloor, of: cpuOf, most: 1.15},
		{says: "`--verify equivalence`, beside the floor, wall", over: rowEquivalence, under: rowFloor, of: wallOf,
			most: 1.25, goal: 1.1},
		{says: "`--verify equivalence`, beside the floor, CPU", over: rowEquivalence, under: rowFloor, of: cpuOf,
			detail: true},
		{says: "both checks, beside the floor with libdeflate, wall", over: rowTracegen, under: rowFloorC, of: wallOf,
			detail: true},
	}
}

// storedTargets are those for stored copies. Their floor is a copy with a CRC, so that the quotients are greater than
// those of deflated jars.
func storedTargets() []target {
	return []target{
		{says: "both checks, beside the floor, CPU", over: rowTracegen, under: rowFloor, of: cpuOf, most: 2.5},
		{says: "both checks, beside the floor, wall", over: rowTracegen, under: rowFloor, of: wallOf, detail: true},
		{says: "`--verify equivalence`, beside the floor, wall", over: rowEquivalence, under: rowFloor, of: wallOf,
			most: 1.6},
		{says: "`--verify equivalence`, beside the floor, CPU", over: rowEquivalence, under: rowFloor, of: cpuOf,
			detail: true},
		{says: "both checks, beside the fastest warm expert, wall", over: rowTracegen, under: rowExpertWarm,
			or: rowWarmTuned, of: wallOf, most: 1},
		{says: "both checks, beside the fastest warm expert, CPU", over: rowTracegen, under: rowExpertWarm,
			or: rowWarmTuned, of: cpuOf, detail: true},
		{says: "both checks, beside AGP's own way, warm, wall", over: rowTracegen, under: rowAGPWarm, of: wallOf,
			detail: true},
		{says: "both checks, beside AGP's own way, warm, CPU", over: rowTracegen, under: rowAGPWarm, of: cpuOf,
			detail: true},
	}
}

// sharedTargets are those of all inputs about other rows, and about memory and size beside peers.
func sharedTargets(matrix string) []target {
	return []target{
		{says: "with the expert's methods and dense IDs: faster than it, C1, wall", over: rowExpertC1, under: rowAll,
			of: wallOf, detail: true},
		{says: "`--compression store`, beside the floor that stores, wall", over: rowStore, under: rowFloorStore,
			of: wallOf, detail: true},
		{says: "`--compression fast`, beside the floor at that level, wall", over: rowFast, under: rowFloorFast,
			of: wallOf, detail: true},
		{says: "peak memory, of Matrix's", over: rowTracegen, under: matrix, of: peakOf, most: 0.1},
		{says: "peak memory, of the expert's", over: rowTracegen, under: rowExpert, of: peakOf, most: 0.25},
		{says: "peak memory, of the expert's with C1", over: rowTracegen, under: rowExpertC1, of: peakOf, most: 0.25},
		{says: "size of the output, of the expert's, with its methods and dense IDs", over: rowAll, under: rowExpert,
			of: sizeOf, most: 1.02},
	}
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

// evaluate computes the targets for an input whose rows were measured, from the rounds in which both rows have a run.
func (r *record) evaluate(input string) []measuredTarget {
	matrix := rowMatrix
	if r.row(input, matrix) == nil {
		matrix = rowMatrixAsIs
	}
	var all []measuredTarget
	for _, t := range targets(input, matrix) {
		over := r.row(input, t.over)
		if over == nil || t.under == "" && t.of(over) == 0 {
			continue
		}
		if t.under == "" {
			all = append(all, t.measure(over, nil))
			continue
		}
		under := r.row(input, t.under)
		if other := r.row(input, t.or); other != nil && (under == nil || t.of(other) < t.of(under)) {
			under = other
		}
		if under != nil && t.of(under) != 0 {
			all = append(all, t.measure(over, under))
		}
	}
	return all
}

// measure computes a target from two rows, or from the row above the line alone.
func (t target) measure(over, under *row) measuredTarget {
	rounds := len(over.runs)
	if under != nil {
		rounds = min(rounds, len(under.runs))
	}
	quotient := func(from, to int) float64 {
		a := over.rounds(from, to)
		if under == nil {
			return t.of(&a)
		}
		b := under.rounds(from, to)
		return t.of(&a) / t.of(&b)
	}
	j := measuredTarget{target: t, quotient: quotient(0, rounds)}
	j.low, j.high = j.quotient, j.quotient
	for n := range rounds {
		q := quotient(n, n+1)
		j.low, j.high = min(j.low, q), max(j.high, q)
	}
	return j
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
