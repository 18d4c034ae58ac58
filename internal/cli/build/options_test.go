package build

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// buildTable returns the options of instrument, scan, assign and explain, with their defaults.
func buildTable() cli.Options { return newInstrument().rows }

func newInstrument() *settings {
	i := &settings{con: &console.Console{Err: io.Discard}}
	i.addOptions(&cobra.Command{Use: "instrument"}, byInstrument)
	return i
}

// allTables returns the tables of all commands.
func allTables() map[string]cli.Options {
	con := &console.Console{}
	return map[string]cli.Options{
		"build":  buildTable(),
		"strip":  (&strip{con: con}).options(),
		"verify": (&verification{con: con}).options(),
	}
}

// TestOptionTables checks that the fields of each row agree.
func TestOptionTables(t *testing.T) {
	for table, rows := range allTables() {
		for k := range rows {
			o := &rows[k]
			if o.List && o.File == cli.NoFile {
				t.Errorf("%s: --%s is a list of paths but names no file", table, o.Name)
			}
			if table != "build" {
				continue
			}
			if o.Commands == 0 || o.Commands&everyBuild == 0 {
				t.Errorf("--%s is an option of no command", o.Name)
			}
			named, _ := pflag.UnquoteUsage(o.Flag)
			if path := slices.Contains([]string{"FILE", "OUT", "DIR", "LIST"}, named); path != (o.File != cli.NoFile) {
				t.Errorf("--%s %s names a file: %v, by its row %v", o.Name, named, path, !path)
			}
		}
	}
}

// TestEveryFlagHasItsStep checks that each option of instrument is one of scan, of assign or of instrument --slice, or
// is known to work in one step only. Without an option that decides something, the three steps would have another
// result than instrument alone.
func TestEveryFlagHasItsStep(t *testing.T) {
	atOnce := []string{"merge", "mapping", "disabled"}
	i := newInstrument()
	for k := range i.rows {
		o := &i.rows[k]
		if !o.TakenBy(byInstrument) {
			continue
		}
		isStep := o.TakenBy(byScan|byAssign) || o.WithSlice == cli.SliceAllows
		if only := slices.Contains(atOnce, o.Name); isStep == only {
			t.Errorf("--%s is an option of a step: %v, known to work in one step only: %v", o.Name, isStep, only)
		}
		if o.WithSlice == cli.SliceAgrees && !slices.Contains(i.originOptions(), o.Name) {
			t.Errorf("slices record --%s, but scan files do not", o.Name)
		}
	}
}

// otherValues returns values that the option does not have by default.
func otherValues(o *cli.Option) []string {
	switch {
	case o.Name == "profile":
		return []string{"profile.txt"} // which TestCacheKeysHaveAllOptions writes
	case o.File != cli.NoFile:
		return nil // the content of the file matters, not its name
	}
	if words, ok := o.Flag.Value.(interface{ Names() []string }); ok {
		return slices.DeleteFunc(words.Names(), func(w string) bool { return w == o.Flag.DefValue })
	}
	switch o.Flag.Value.Type() {
	case "bool":
		return []string{"true"}
	case "KEY=VALUE":
		return nil // the keys are options themselves
	case "NAME[=LIMIT]":
		return []string{"growth=3"}
	case "SIZE":
		return []string{"1MiB"}
	case "int":
		return []string{"3"}
	}
	return []string{"a.B"}
}

// resolvedWith returns the resolved options with some values set.
func resolvedWith(t *testing.T, values map[string]string) *settings {
	t.Helper()
	i := newInstrument()
	for name, value := range values {
		f := i.rows.Find(name).Flag
		if err := f.Value.Set(value); err != nil {
			t.Fatalf("--%s %s: %v", name, value, err)
		}
		f.Changed = true
	}
	if err := i.resolveOptions(); err != nil {
		t.Fatalf("%v: %v", values, err)
	}
	if err := i.readRules(); err != nil {
		t.Fatal(err)
	}
	return i
}

// changed lists the fields in which two structs of one type differ.
func changed(a, b any) []string {
	var names []string
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for f := range x.NumField() {
		if !reflect.DeepEqual(x.Field(f).Interface(), y.Field(f).Interface()) {
			names = append(names, x.Type().Field(f).Name)
		}
	}
	return names
}

// TestCacheKeysHaveAllOptions changes each option and compares the configurations of the packages below. If one
// differs, the cache keys must differ, too: with a forgotten option, a run would reuse the outputs of a run with
// another value.
//
// Invariant: Cache keys have every option that changes classes, decisions or outputs.
func TestCacheKeysHaveAllOptions(t *testing.T) {
	t.Chdir(t.TempDir()) // without tracegen.yml
	fixture.Write(t, "profile.txt", "none 1 0 0 a.B c ()V\n")
	// Fields of pipeline.Config that do not change classes, or change them only by decisions, which package incremental
	// adds to the key of outputs; and those that are compared field by field above.
	notInKeys := []string{"Filter", "Inject", "Files", "Order", "RuntimeExternal", "BuiltIn", "Jobs", "DryRun"}
	seenFilter, seenInject := map[string]bool{}, map[string]bool{}
	for _, base := range []map[string]string{{}, {"target": "jvm"}} {
		was := resolvedWith(t, base)
		for k := range was.rows {
			o := &was.rows[k]
			if !o.TakenBy(byInstrument) || base[o.Name] != "" {
				continue
			}
			for _, value := range otherValues(o) {
				values := map[string]string{o.Name: value}
				for name, of := range base {
					values[name] = of
				}
				is := resolvedWith(t, values)
				scan, write := is.scanKey() != was.scanKey(), is.writeKey() != was.writeKey()
				for _, field := range changed(was.filterOptions(), is.filterOptions()) {
					seenFilter[field] = true
					if !scan {
						t.Errorf("--%s %s changes filter.Options.%s and not the key of scans", o.Name, value, field)
					}
				}
				a, b := was.pipelineConfig(), is.pipelineConfig()
				for _, field := range changed(a.Inject, b.Inject) {
					seenInject[field] = true
					if !scan || !write {
						t.Errorf("--%s %s changes inject.Options.%s; the key of scans: %v, of what is written: %v",
							o.Name, value, field, scan, write)
					}
				}
				for _, field := range changed(a, b) {
					if !scan && !write && !slices.Contains(notInKeys, field) {
						t.Errorf("--%s %s changes pipeline.Config.%s and no key", o.Name, value, field)
					}
				}
			}
		}
	}
	// An option for a new field must be in the table, and this test must know a value that changes the field.
	for _, f := range reflect.VisibleFields(reflect.TypeFor[filter.Options]()) {
		if !seenFilter[f.Name] && f.Name != "R8" && f.Name != "Libraries" {
			t.Errorf("filter.Options.%s: no option changes it", f.Name)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[inject.Options]()) {
		if !seenInject[f.Name] {
			t.Errorf("inject.Options.%s: no option changes it", f.Name)
		}
	}
	// Files are in the key of scans by their content.
	i := resolvedWith(t, nil)
	without := i.scanKey()
	i.r8Digest = "0123456789abcdef"
	if i.scanKey() == without {
		t.Error("another --r8-mapping does not change the key of scans")
	}
	i = resolvedWith(t, nil)
	if i.libraries.classes["a/B"] = true; i.scanKey() == without {
		t.Error("another class in --libraries does not change the key of scans")
	}
	i = resolvedWith(t, nil)
	rule, err := filter.ParseRule(false, "a.**", filter.Position{File: "tracegen.yml", Line: 1})
	if err != nil {
		t.Fatal(err)
	}
	if i.rules = []filter.Rule{rule}; i.scanKey() == without {
		t.Error("another rule does not change the key of scans")
	}
}

// TestJobsReachThePipeline checks the number of workers, which no output shows.
func TestJobsReachThePipeline(t *testing.T) {
	i := settings{con: &console.Console{}, running: running{jobs: 3}}
	if jobs := i.pipelineConfig().Jobs; jobs != 3 {
		t.Errorf("%d workers, want 3", jobs)
	}
	s := strip{runtimeClass: "a.B", output: "out", jobs: 3}
	t.Chdir(t.TempDir())
	fixture.Write(t, "a.jar", "")
	config, err := s.config("a.jar")
	if err != nil || config.Jobs != 3 {
		t.Errorf("strip: %d workers and error %v, want 3", config.Jobs, err)
	}
}
