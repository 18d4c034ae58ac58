package classpath

import "sync"

// generation is the greatest number of values in each of the two generations of a Recent.
const generation = 1 << 14

// Recent is a map that keeps the values that were used last, up to a bound. Goroutines may share it. It has two
// generations: Put stores values in the young one, and Get moves a value that it finds in the old one there. When the
// young generation is full, it becomes the old one, and the values that were in the old one are dropped. So a value
// stays until at least as many other values were used as one generation holds. A call costs one or two look-ups. The
// zero Recent is empty and ready for use.
type Recent[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]recentEntry[K, V]
}

// recentEntry has a value with the key that was passed to Put. Moving it keeps that key and not the one that was
// passed to Get, which may share memory that should not be kept.
type recentEntry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key; found is false if it was never put or has been dropped.
func (m *Recent[K, V]) Get(key K) (value V, found bool) {
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

// Put sets the value of a key. The Recent keeps the key.
func (m *Recent[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(recentEntry[K, V]{key, value})
}

// keep stores an entry in the young generation.
func (m *Recent[K, V]) keep(e recentEntry[K, V]) {
	if len(m.young) >= generation || m.young == nil {
		m.old, m.young = m.young, make(map[K]recentEntry[K, V])
	}
	m.young[e.key] = e
}
