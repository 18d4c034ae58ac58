package verify_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile/verify"
)

func TestIntroduced(t *testing.T) {
	finding := func(method string, offset int, want string) verify.Finding {
		return verify.Finding{Class: "T", Method: method, Descriptor: "()V", Offset: offset, Rule: "JVMS 4.10.1.4",
			Want: want, Got: "int"}
	}
	old := []verify.Finding{finding("f", 3, "float in local 0, as in the frame at 9"), finding("g", 1, "a"),
		finding("g", 2, "a")}
	moved := finding("f", 7, "float in local 0, as in the frame at 13")
	other := finding("f", 7, "long in local 0, as in the frame at 13")
	third := finding("g", 5, "a")
	for _, c := range []struct {
		name          string
		changed, want []verify.Finding
	}{
		{"the same elsewhere", []verify.Finding{moved}, nil},
		{"of another type", []verify.Finding{moved, other}, []verify.Finding{other}},
		{"in another method", []verify.Finding{finding("h", 3, old[0].Want)},
			[]verify.Finding{finding("h", 3, old[0].Want)}},
		{"once more than before", []verify.Finding{finding("g", 3, "a"), finding("g", 4, "a"), third},
			[]verify.Finding{third}},
		{"none", nil, nil},
	} {
		if got := verify.Introduced(old, c.changed); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
