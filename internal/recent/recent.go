// Package recent keeps what was asked for last, up to a bound, for goroutines that share it.
package recent

import "sync"

// generation is how many values each of the two generations holds.
const generation = 1 << 14

// Map holds values in two generations. What is put, or found in the old one, goes into the young one; when that is full,
// it becomes the old one, which is dropped. The zero value is empty and ready.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]entry[K, V]
}

// entry has the key as it was put: the one that is asked with may be cut from memory that is not to be kept.
type entry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key, and whether it is still known.
func (m *Map[K, V]) Get(key K) (value V, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, found := m.young[key]
	if !found {
		if e, found = m.old[key]; found {
			m.keep(e)
		}
	}
	return e.value, found
}

// Put sets the value of a key, which is kept.
func (m *Map[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(entry[K, V]{key, value})
}

func (m *Map[K, V]) keep(e entry[K, V]) {
	if len(m.young) >= generation || m.young == nil {
		m.old, m.young = m.young, make(map[K]entry[K, V])
	}
	m.young[e.key] = e
}
