package incremental

import "testing"

// TestNoneRemembersNoIDs checks that a run without a cache does not hash all methods, and does not wait for the digest
// of the mapping, to look for IDs and to keep them: package mapping does so for every memory that is not nil.
func TestNoneRemembersNoIDs(t *testing.T) {
	var m Memory = None{}
	if ids := m.IDs(); ids != nil {
		t.Errorf("a run without a cache has a memory of IDs, %T", ids)
	}
}
