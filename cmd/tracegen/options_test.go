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

// TestOptionTables holds rows to what a reader of the table expects of them.
func TestOptionTables(t *testing.T) {
	for table, rows := range allTables() {
		for k := range rows {
			o := &rows[k]
			if o.extensions != nil && o.file == noFile {
				t.Errorf("%s: --%s has extensions and names no file", table, o.name)
			}
			if o.list && o.file == noFile {
				t.Errorf("%s: --%s is a list of paths and names no file", table, o.name)
			}
			if table != "build" {
				continue
			}
			if o.commands == 0 || o.commands&everyBuild == 0 {
				t.Errorf("--%s does not say which commands take it", o.name)
			}
			named, _ := pflag.UnquoteUsage(o.flag)
			if path := slices.Contains([]string{"FILE", "OUT", "DIR", "LIST"}, named); path != (o.file != noFile) {
				t.Errorf("--%s %s names a file: %v, by its row %v", o.name, named, path, !path)
			}
		}
	}
}

// TestEveryFlagHasItsStep wants each flag of instrument to have its say in scan, in assign or beside --slice, or to be
// known as one that only works at once: a flag that decides something and is forgotten here would let the steps come
// to something else than instrument does.
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
			t.Errorf("--%s has its say in a step: %v, works only at once: %v", o.name, isStep, only)
		}
		if o.withSlice == sliceAgrees && !slices.Contains(i.originOptions(), o.name) {
			t.Errorf("--%s shapes what is written, and scan files do not record it", o.name)
		}
	}
}

// otherValues returns values that the option does not have by default.
func otherValues(o *option) []string {
	if o.file != noFile {
		return nil // what counts is the content
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

// resolvedWith returns what follows from the values of some options.
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

// TestCacheKeysHaveAllOptions changes every option and looks at what the packages below are given. What changes there
// has to change the cache keys: an option that were forgotten would give outputs of another run.
func TestCacheKeysHaveAllOptions(t *testing.T) {
	inTree(t) // without tracegen.yml
	// Fields of pipeline.Config that change no class by themselves, or only by decisions, which are in the key of
	// what is written, and those that are compared as fields of their own or by what they were made of.
	notInKeys := []string{"Filter", "Inject", "Files", "Order", "RuntimeExternal", "Jobs", "DryRun"}
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
	// A field that no option sets is either forgotten here, or in the table.
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
	// What files say is in the key of scans by content.
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
