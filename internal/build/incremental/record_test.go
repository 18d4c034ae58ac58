package incremental

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/cache"
)

// TestRecordIsKept packs what came of writing, failures of every kind among it, and reads it again.
func TestRecordIsKept(t *testing.T) {
	in := output.InputRecord{ClassBytes: 7, OutputBytes: 1 << 40, Calls: 3,
		Classes:  []output.ClassRecord{{Class: 2, Calls: 3, Grown: -5}},
		Failures: map[int]plan.Failure{}, Notes: typecheck.Notes{Unknown: map[string]bool{"a/B": true},
			Tolerated: map[int]string{1: "fault"}}}
	reasons := []error{inject.ErrPoolFull, inject.ErrTooLarge, inject.ErrUnknownAttribute, inject.ErrJITLimit,
		inject.ErrNoEntry, inject.ErrMalformed, errors.New("something else")}
	seen := map[filter.Reason]bool{}
	for i, reason := range reasons {
		err := fmt.Errorf("method %d: %w", i, reason)
		refusals := scan.Refusals([]inject.Refusal{{Method: 7 * i, Err: err}, {Method: 7*i + 1, Err: err}})
		seen[refusals[0].Decision.Reason] = true
		in.Failures[i] = plan.Failure{Rejection: &scan.Rejection{Detail: fmt.Sprint("detail ", i),
			PreExisting: i%2 == 0}, Refusals: refusals}
	}
	if len(seen) != len(reasons)-1 { // the last two are malformed
		t.Errorf("reasons %v", seen)
	}
	want := stored{&output.Record{Inputs: []output.InputRecord{in}, Warnings: []output.Warning{{Input: 0,
		Text: ": odd"}}},
		[]fileRecord{{name: "a/", mode: 0o755}, {name: "a/b", mode: 0o644, size: 1 << 33, sum: cache.Checksum{3}}}}
	got := readStored(want.pack(), []int{len(reasons)})
	if got == nil || !reflect.DeepEqual(*got, want) {
		t.Fatalf("read %+v, packed %+v", got, want)
	}
	if readStored(want.pack(), []int{len(reasons) - 1}) != nil {
		t.Error("a failure of a class that is not there is read")
	}
}
