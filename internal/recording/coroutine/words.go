package coroutine

import (
	"fmt"
	"time"

	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Words has the names for what is said of coroutines.
type Words struct {
	// Method returns what a method is called, Thread what a thread is, Pool the threads of its pool and what that is
	// called.
	Method func(trace.Method) string
	Thread func(uint32) string
	Pool   func(uint32) ([]uint32, string)
}

// Awaited says what a coroutine waited for that was suspended for half of a time or more, and went on on the same
// thread; it is empty if there is none. ran is how long of that time the process ran.
func (c *Coroutines) Awaited(words Words, thread uint32, begin, end int64, ran time.Duration) string {
	if c == nil {
		return ""
	}
	w, ok := c.Waited(thread, begin, end)
	if !ok || 2*w.Suspended < ran {
		return ""
	}
	text := "; suspended "
	if w.AtMost {
		text += "at most "
	}
	text += units.Part(w.Suspended, time.Duration(end-begin))
	if w.Wait != nil {
		text += " waiting for " + words.Method(w.Wait.Method)
		if w.Wait.Launched {
			text += " on " + words.Thread(w.Wait.Thread)
		}
	}
	if w.Late != nil && 2*w.LateBy >= ran {
		pool, name := words.Pool(w.Late.Pieces[0].Thread)
		if busy, ok := c.Occupied(w.Late, pool); ok {
			text += fmt.Sprintf("; %s began %s late: %s", words.Method(w.Late.Method), units.Short(w.LateBy),
				BusyText(len(pool), name, words.Method(busy.Method)))
		}
	}
	return text
}

// Occupied says what ran on the threads of a lambda's pool from when it was made until it began, if all of them were
// busy for nine tenths of that time. It suffices that one method took half of it on the only thread of a pool. ok is
// false if they were not, or if other threads may have been there that are not recorded.
func (c *Coroutines) Occupied(late *Call, pool []uint32) (busy Busy, ok bool) {
	took := late.Late()
	busy = c.Busy(pool, late.Launched.Until, late.Begin())
	if len(pool) > 1 {
		return busy, !c.partial && 10*busy.Least >= 9*took && busy.Method != 0
	}
	return busy, 2*busy.Took > took
}

// BusyText says which threads were busy with what.
func BusyText(threads int, name, method string) string {
	if threads > 1 {
		return fmt.Sprintf("all %d threads of %s were busy, most with %s", threads, name, method)
	}
	return name + " was busy with " + method
}
