package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// record is the content of a file of runs: the conditions, and every single run. Tables are made from it
// alone, so that they can be made again from the file.
type record struct {
	conditions []string // "name: value"
	rows       []row
}

const recordColumns = "input\trow\trun\twall_s\tuser_s\tsys_s\tpeak_bytes\tclasses\tclasses_changed\t" +
	"methods\tcalls\tclass_bytes_in\tclass_bytes_out\toutput_bytes\tnote"

// writeTo writes a line for each run, and one with run 0 for a row without any.
func (r *record) writeTo(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, c := range r.conditions {
		fmt.Fprintf(w, "# %s\n", c)
	}
	fmt.Fprintln(w, recordColumns)
	for _, row := range r.rows {
		runs := row.runs
		if len(runs) == 0 {
			runs = []run{{}}
		}
		for i, one := range runs {
			number := i + 1
			if len(row.runs) == 0 {
				number = 0
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", row.input, row.name, number,
				one.wall.Seconds(), one.user.Seconds(), one.sys.Seconds(), one.peak, row.work.classes, row.work.changed,
				row.work.methods,
				row.work.calls, row.work.before, row.work.after, row.work.size, strings.Map(plainBlank, row.note))
		}
	}
	return w.Flush()
}

func plainBlank(r rune) rune {
	if r == '\t' || r == '\n' {
		return ' '
	}
	return r
}

// readRecord reads what writeTo has written.
func readRecord(in io.Reader) (*record, error) {
	r := &record{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if c, found := strings.CutPrefix(line, "# "); found {
			r.conditions = append(r.conditions, c)
			continue
		}
		if line == recordColumns {
			continue
		}
		if err := r.add(strings.Split(line, "\t")); err != nil {
			return nil, fmt.Errorf("runs: line %d: %w", n, err)
		}
	}
	return r, lines.Err()
}

// add adds the run of one line.
func (r *record) add(fields []string) error {
	if want := strings.Count(recordColumns, "\t") + 1; len(fields) != want {
		return fmt.Errorf("%d columns, want %d", len(fields), want)
	}
	var numbers [12]float64
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseFloat(fields[i+2], 64); err != nil {
			return fmt.Errorf("column %d: %w", i+3, err)
		}
	}
	last := len(r.rows) - 1
	if last < 0 || r.rows[last].input != fields[0] || r.rows[last].name != fields[1] {
		r.rows = append(r.rows, row{input: fields[0], name: fields[1], note: fields[14], work: work{
			classes: int(numbers[5]), changed: int(numbers[6]), methods: int(numbers[7]), calls: int(numbers[8]),
			before: int64(numbers[9]), after: int64(numbers[10]), size: int64(numbers[11]),
		}})
		last++
	}
	if numbers[0] > 0 {
		second := float64(time.Second)
		r.rows[last].runs = append(r.rows[last].runs, run{
			wall: time.Duration(numbers[1]*second + 0.5), user: time.Duration(numbers[2]*second + 0.5),
			sys: time.Duration(numbers[3]*second + 0.5), peak: int64(numbers[4]),
		})
	}
	return nil
}

// inputs returns the names of the inputs, in order.
func (r *record) inputs() []string {
	var names []string
	for _, row := range r.rows {
		if len(names) == 0 || names[len(names)-1] != row.input {
			names = append(names, row.input)
		}
	}
	return names
}

// row returns the row of that name with runs, or nil.
func (r *record) row(input, name string) *row {
	for i := range r.rows {
		if r.rows[i].input == input && r.rows[i].name == name && len(r.rows[i].runs) > 0 {
			return &r.rows[i]
		}
	}
	return nil
}

// condition returns the value of a condition, or "".
func (r *record) condition(name string) string {
	for _, c := range r.conditions {
		if value, found := strings.CutPrefix(c, name+": "); found {
			return value
		}
	}
	return ""
}
