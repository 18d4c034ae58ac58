package lake

import "crypto/sha256"

// IDHash stands for the ID of a report.
type IDHash [16]byte

// HashID returns the hash of an ID.
func HashID(id string) IDHash {
	sum := sha256.Sum256([]byte(id))
	return IDHash(sum[:16])
}

// windowSize is how many IDs a [Window] has at least, once as many were added. It has at most twice as many, which take
// about 20 MB.
const windowSize = 250_000

// Window has the IDs that were added last. The zero value is empty.
type Window struct{ now, before map[IDHash]struct{} }

// Has reports whether the window has an ID.
func (w *Window) Has(id IDHash) bool {
	_, now := w.now[id]
	_, before := w.before[id]
	return now || before
}

// Add adds an ID.
func (w *Window) Add(id IDHash) {
	if w.now == nil || len(w.now) >= windowSize {
		w.now, w.before = map[IDHash]struct{}{}, w.now
	}
	w.now[id] = struct{}{}
}
