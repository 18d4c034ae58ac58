package classfile_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// TestParserReuse checks that the parsed class does not depend on what was parsed in the same memory before: bigger
// and smaller classes, and data that is malformed from some byte on.
func TestParserReuse(t *testing.T) {
	samples := sampleClasses(t)
	names := slices.Sorted(maps.Keys(samples))
	samples["everything"] = everything().bytes()
	var reused classfile.Parser
	before, err := reused.Parse(samples["everything"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, append([]string{"everything"}, names...)...) {
		data := samples[name]
		for _, end := range []int{len(data) / 3, len(data), len(data) * 2 / 3, len(data) - 1, len(data)} {
			want, wantErr := classfile.Parse(data[:end])
			got, gotErr := reused.Parse(data[:end])
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Fatalf("%s, cut at %d: error %v, want %v", name, end, gotErr, wantErr)
			}
			if wantErr == nil && (got == before || got.ConstantPool() == before.ConstantPool()) {
				t.Fatalf("%s: it has the address of the previous class", name)
			}
			if wantErr == nil && fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", *want) {
				t.Fatalf("%s: parsed after others, it differs:\n%+v\nwant\n%+v", name, *got, *want)
			}
			if wantErr == nil {
				before = got
			}
		}
	}
}
