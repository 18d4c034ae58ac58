package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const mega = 1e6

// What quotients compare.
func wallOf(r *row) float64 { return r.median(wallSeconds) }
func cpuOf(r *row) float64  { return r.median(cpuSeconds) }

// printTables writes the page of a record: conditions, and for each input every row.
func (r *record) printTables(w io.Writer) {
	fmt.Fprintf(w, "# Measured %s: min-**median**-max\n\n", r.condition("date"))
	for _, c := range r.conditions {
		fmt.Fprintf(w, "- %s\n", c)
	}
	if r.disturbed() {
		fmt.Fprintf(w, "\n%s\n", disturbance)
	}
	fmt.Fprint(w, "\n[How to read this](../../README.md); every single run is in [peers.tsv](peers.tsv).\n")
	for _, input := range r.inputs() {
		r.printTable(w, input)
	}
}

func (r *record) printTable(w io.Writer, input string) {
	title := input
	for _, row := range r.rows {
		if row.input == input && row.work.classes > 0 {
			title = fmt.Sprintf("%s (%d classes, %.1f MB inflated)", input, row.work.classes, float64(row.work.before)/mega)
			break
		}
	}
	fmt.Fprintf(w, "\n## %s\n\n", title)
	fmt.Fprintln(w, "| what | runs | wall s | × floor | CPU s | × floor | peak MB | output MB | classes changed | "+
		"methods | calls | growth % | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	floor := r.row(input, rowFloor)
	for i := range r.rows {
		row := &r.rows[i]
		if row.input != input {
			continue
		}
		if len(row.runs) == 0 {
			fmt.Fprintf(w, "| %s | 0 | | | | | | | | | | | %s |\n", row.name, cell(row.note))
			continue
		}
		low, wall, high := row.spread(wallSeconds)
		growth := 100 * float64(row.work.after-row.work.before) / float64(max(row.work.before, 1))
		fmt.Fprintf(w, "| %s | %d | %.2f-**%.2f**-%.2f | %s | %.2f | %s | %.0f | %.2f | %d | %d | %d | %.2f | %s |\n",
			row.name, len(row.runs), low, wall, high, times(row, floor, wallOf), row.median(cpuSeconds),
			times(row, floor, cpuOf),
			row.median(peakMB), float64(row.work.size)/mega, row.work.changed, row.work.methods, row.work.calls, growth,
			cell(row.note))
	}
}

// cell returns a text with which a cell of a Markdown table can begin and end.
func cell(note string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(note) }

// times returns the quotient of the medians of two rows.
func times(r, other *row, of func(*row) float64) string {
	if other == nil || of(other) == 0 {
		return ""
	}
	return figure(of(r) / of(other))
}

// shown are the rows of the README's table, in order, with their names there.
func shown() [][2]string {
	return [][2]string{
		{rowFloor, "the floor: unzip and zip"},
		{rowEquivalence, "tracegen, equivalence only"},
		{rowTracegen, "tracegen, both checks"},
		{rowExpertC1, "ASM by hand, tuned JVM"},
		{rowExpert, "ASM by hand"},
		{rowJacoco, "JaCoCo"},
		{rowByteBuddy, "ByteBuddy"},
		{rowMatrix, "Matrix, with its check"},
	}
}

// shownRows returns the rows with runs that are shown for an input, with their names there.
func (r *record) shownRows(input string) (rows []*row, names []string) {
	for _, s := range shown() {
		if row := r.row(input, s[0]); row != nil {
			rows, names = append(rows, row), append(names, s[1])
		}
	}
	return rows, names
}

// shownInputs returns the first input and the corpus.
func (r *record) shownInputs() []string {
	inputs := r.inputs()
	if len(inputs) > 1 && slices.Contains(inputs[1:], corpusInput) {
		return []string{inputs[0], corpusInput}
	}
	return inputs[:min(len(inputs), 1)]
}

// printSection writes the README's section on speed. dir is the directory of the record, for links.
func (r *record) printSection(w io.Writer, dir string) {
	if r.disturbed() {
		fmt.Fprintf(w, "\n%s\n", disturbance)
	}
	for _, input := range r.shownInputs() {
		rows, names := r.shownRows(input)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n**%s**, %d classes, %.0f MB inflated:\n\n", input, rows[0].work.classes,
			float64(rows[0].work.before)/mega)
		fmt.Fprintln(w, "| | wall s | × floor | CPU s | peak MB | output MB | methods traced "+
			"|\n|---|---|---|---|---|---|---|")
		floor := r.row(input, rowFloor)
		for i, row := range rows {
			methods := "–"
			if row.work.calls > 0 {
				methods = fmt.Sprint(row.work.methods)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %.0f | %.1f | %s |\n", names[i], figure(row.median(wallSeconds)),
				times(row, floor, wallOf),
				figure(row.median(cpuSeconds)), row.median(peakMB), float64(row.work.size)/mega, methods)
		}
	}
	fmt.Fprintf(w, "\nMedians of one run in which all took turns, on %s, %s, %s. Every row and every run: "+
		"[%s/peers.md](%s/peers.md);\n"+
		"how it is measured, and how you do it: [bench/README.md](bench/README.md).\n",
		r.condition("cpu"), r.condition("memory"), r.condition("kernel"), dir, dir)
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
