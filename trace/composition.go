package trace

import (
	"errors"
	"math"
)

// Compositions has composables of Compose that a thread has executed. It comes before the [Records] behind them, or,
// in a recording of stalls, before the [StallChunk] in which they were.
type Compositions struct {
	// Thread is the thread's index.
	Thread uint32
	// Lost is how many more the thread executed since the chunk before: there was no room for them.
	Lost uint64
	// List has the executions in the order of their ends.
	List []Composition
}

// Composition is one execution of a composable: the first one in its place, or a later one. A composable that was
// called and skipped is not executed.
type Composition struct {
	// Composable is how Compose's compiler names it: "com.app.Feed.<anonymous> (Feed.kt:12)".
	Composable string
	// Dirty has, for each ten parameters, the states that it had when it was executed, as Compose's compiler encodes
	// them; -1 if there are none.
	Dirty [2]int32
	// Begin is when it began, in [Clock.NanoTime], Nanos how long it lasted.
	Begin, Nanos int64
	// Record is the number of the thread's next record when it began, Records how many the thread made until it ended.
	Record, Records uint64
}

func (*Compositions) chunk() {}

// decodeCompositions reads the chunk of compositions. Times and numbers are written as differences.
func decodeCompositions(p *payload) *Compositions {
	c := &Compositions{Thread: p.index(), Lost: p.uv()}
	nanos, record := int64(0), uint64(0)
	c.List = list(p, 13, func(p *payload) Composition {
		out := Composition{Composable: p.name(), Dirty: [2]int32{int32(p.u32()), int32(p.u32())}}
		nanos += p.sv()
		out.Begin, out.Nanos = nanos, int64(p.uv())
		record += uint64(p.sv())
		out.Record, out.Records = record, p.uv()
		if out.Nanos < 0 || out.Begin > math.MaxInt64-out.Nanos || out.Record > math.MaxInt64 || out.Records > math.MaxInt64 {
			p.fail(errors.New("the time or a record of a composition is out of range"))
		}
		return out
	})
	return c
}
