package classpath

import "testing"

// TestMap checks that a value that is used stays, that one that is not used is dropped, and that there are never
// more values than two generations hold.
func TestMap(t *testing.T) {
	var m Recent[int, int]
	if _, found := m.Get(1); found {
		t.Error("an empty map has a value")
	}
	const n = 4 * generation
	for i := range n {
		m.Put(i, -i)
		if value, found := m.Get(0); !found || value != 0 {
			t.Fatalf("after %d others, the value that is always used is dropped", i)
		}
		if len(m.young)+len(m.old) > 2*generation {
			t.Fatalf("%d values are held", len(m.young)+len(m.old))
		}
	}
	if value, found := m.Get(n - 1); !found || value != 1-n {
		t.Errorf("the last is %d, %v", value, found)
	}
	if _, found := m.Get(1); found {
		t.Error("a value that was not used is still there")
	}
}
