package types

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// TestMemberTable: a member is found by its name and its descriptor, not by both as one text, and the first of two.
func TestMemberTable(t *testing.T) {
	table := members([]classfile.Member{
		{Name: "ab", Descriptor: "()V", AccessFlags: 1}, {Name: "c", Descriptor: "I", AccessFlags: 2},
		{Name: "ab", Descriptor: "()I", AccessFlags: 3}, {Name: "c", Descriptor: "I", AccessFlags: 4},
	})
	tests := []struct {
		name, descriptor string
		flags            uint16 // 0 if there is none
	}{{"ab", "()V", 1}, {"c", "I", 2}, {"ab", "()I", 3}, {"a", "b()V", 0}, {"ab", "()J", 0}, {"", "cI", 0}, {"b", "I", 0}}
	for _, test := range tests {
		if flags, found := table.find(test.name, test.descriptor); flags != test.flags || found != (test.flags != 0) {
			t.Errorf("%s %s: %d, %v, want %d", test.name, test.descriptor, flags, found, test.flags)
		}
	}
	none := members(nil)
	if _, found := none.find("ab", "()V"); found {
		t.Error("an empty table has a member")
	}
}
