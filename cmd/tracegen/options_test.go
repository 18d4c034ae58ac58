package main

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
)

// buildTable returns the options of instrument, scan, assign and explain, with their defaults.
func buildTable() options { return newInstrument().rows }

func newInstrument() *instrument {
	i := &instrument{con: &console{err: io.Discard}}
	i.addOptions(&cobra.Command{Use: "instrument"}, byInstrument)
	return i
}

// allTables returns the tables of all commands.
func allTables() map[string]options {
	con := &console{}
	return map[string]options{
		"build":   buildTable(),
		"strip":   (&strip{con: con}).options(),
		"verify":  (&verification{con: con}).options(),
		"analyze": (&analyzing{con: con}).options(),
		"compare": (&comparing{con: con}).options(),
		"group":   (&grouping{con: con}).options(),
	}
}

// TestOptionTables checks that the fields of each row agree.
func TestOptionTables(t *testing.T) {
	for table, rows := range allTables() {
		for k := range rows {
			o := &rows[k]
			if o.extensions != nil && o.file == noFile {
				t.Errorf("%s: --%s has extensions but names no file", table, o.name)
			}
			if o.list && o.file == noFile {
				t.Errorf("%s: --%s is a list of paths but names no file", table, o.name)
			}
			if table != "build" {
				continue
			}
			if o.commands == 0 || o.commands&everyBuild == 0 {
				t.Errorf("--%s is an option of no command", o.name)
			}
			named, _ := pflag.UnquoteUsage(o.flag)
			if path := slices.Contains([]string{"FILE", "OUT", "DIR", "LIST"}, named); path != (o.file != noFile) {
				t.Errorf("--%s %s names a file: %v, by its row %v", o.name, named, path, !path)
			}
		}
	}
}

// TestEveryFlagHasItsStep checks that each option of instrument is one of scan, of assign or of instrument --slice, or
// is known to work in one step only. Without an option that decides something, the three steps would have another
// result than instrument alone.
func TestEveryFlagHasItsStep(t *testing.T) {
	atOnce := []string{"merge", "mapping", "disabled", "max-growth", "max-calls-growth", "base-report"}
	i := newInstrument()
	for k := range i.rows {
		o := &i.rows[k]
		if !o.takenBy(byInstrument) {
			continue
		}
		isStep := o.takenBy(byScan|byAssign) || o.withSlice == sliceAllows
		if only := slices.Contains(atOnce, o.name); isStep == only {
			t.Errorf("--%s is an option of a step: %v, known to work in one step only: %v", o.name, isStep, only)
		}
		if o.withSlice == sliceAgrees && !slices.Contains(i.originOptions(), o.name) {
			t.Errorf("slices record --%s, but scan files do not", o.name)
		}
	}
}

// otherValues returns values that the option does not have by default.
func otherValues(o *option) []string {
	if o.file != noFile {
		return nil // the content of the file matters, not its name
	}
	if words, ok := o.flag.Value.(interface{ names() []string }); ok {
		return slices.DeleteFunc(words.names(), func(w string) bool { return w == o.flag.DefValue })
	}
	switch o.flag.Value.Type() {
	case "bool":
		return []string{"true"}
	case "SIZE":
		return []string{"1MiB"}
	case "int", "PERCENT", "R":
		return []string{"3"}
	}
	return []string{"a.B"}
}

// resolvedWith returns the resolved options with some values set.
func resolvedWith(t *testing.T, values map[string]string) *instrument {
	t.Helper()
	i := newInstrument()
	for name, value := range values {
		f := i.rows.find(name).flag
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
	inTree(t) // without tracegen.yml
	// Fields of pipeline.Config that do not change classes, or change them only by decisions, which package incremental
	// adds to the key of outputs; and those that are compared field by field above.
	notInKeys := []string{"Filter", "Inject", "Files", "Order", "RuntimeExternal", "BuiltIn", "Jobs", "DryRun"}
	seenFilter, seenInject := map[string]bool{}, map[string]bool{}
	for _, base := range []map[string]string{{}, {"target": "jvm"}} {
		was := resolvedWith(t, base)
		for k := range was.rows {
			o := &was.rows[k]
			if !o.takenBy(byInstrument) || base[o.name] != "" {
				continue
			}
			for _, value := range otherValues(o) {
				values := map[string]string{o.name: value}
				for name, of := range base {
					values[name] = of
				}
				is := resolvedWith(t, values)
				scan, write := is.scanKey() != was.scanKey(), is.writeKey() != was.writeKey()
				for _, field := range changed(was.filterOptions(), is.filterOptions()) {
					seenFilter[field] = true
					if !scan {
						t.Errorf("--%s %s changes filter.Options.%s and not the key of scans", o.name, value, field)
					}
				}
				a, b := was.pipelineConfig(), is.pipelineConfig()
				for _, field := range changed(a.Inject, b.Inject) {
					seenInject[field] = true
					if !scan || !write {
						t.Errorf("--%s %s changes inject.Options.%s; the key of scans: %v, of what is written: %v",
							o.name, value, field, scan, write)
					}
				}
				for _, field := range changed(a, b) {
					if !scan && !write && !slices.Contains(notInKeys, field) {
						t.Errorf("--%s %s changes pipeline.Config.%s and no key", o.name, value, field)
					}
				}
			}
		}
	}
	// An option for a new field must be in the table, and this test must know a value that changes the field.
	for _, f := range reflect.VisibleFields(reflect.TypeFor[filter.Options]()) {
		if !seenFilter[f.Name] && f.Name != "R8" {
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
	rule, err := filter.ParseRule(false, "a.**", filter.Position{File: "tracegen.yml", Line: 1})
	if err != nil {
		t.Fatal(err)
	}
	if i.rules = []filter.Rule{rule}; i.scanKey() == without {
		t.Error("another rule does not change the key of scans")
	}
}
