package buildreport

import (
	"bytes"
	"testing"
)

// FuzzReadSaved reads any text as a report, and as the baseline of a guard.
//
// Invariant: A report that is read has no difference from itself.
func FuzzReadSaved(f *testing.F) {
	f.Add([]byte(`{"schema":1,"totals":{"calls":3},"packages":[{"package":"a.b","calls":1},{"package":"","calls":2}]}`))
	f.Add([]byte(`{"schema":1,"options":{"exits":"throws"},"rules":["f.yml:1: block a.**"],"totals":{},"mapping":` +
		`{"digest":"0123456789abcdef"},"inputs":[{"path":"a.jar"}],"focus":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if base, err := ReadBaseline(bytes.NewReader(data)); err == nil {
			sum := 0
			for p, n := range base.byPackage {
				if sum += n; n < 0 {
					t.Fatal(p, n)
				}
			}
			if sum != base.calls {
				t.Fatalf("%d calls, %d in all", sum, base.calls)
			}
		}
		a, err := ReadSaved(bytes.NewReader(data))
		if err != nil {
			return
		}
		b, err := ReadSaved(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if d := Compare(a, b); !d.Equal() {
			t.Errorf("%s differs from itself: %+v", data, d)
		}
	})
}
