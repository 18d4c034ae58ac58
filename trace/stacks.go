package trace

import (
	"errors"
	"math"
)

// Stacks has steady samples: stacks of threads that were taken from time to time while a message or an outermost call
// ran, whether that became a stall or not.
type Stacks struct {
	// Anew is set if the table of stacks begins anew with Nodes.
	Anew bool
	// Lost is set if it is not known what the table has: the chunk in which it began, or one since then, is lost or
	// damaged. It ends with the next chunk in which the table begins anew. The file does not say it, the [Reader] does.
	Lost bool
	// Nodes are appended to the table. The first node of a table has the number 1.
	Nodes []StackNode
	// Samples are in the order in which they were taken, those of one thread at least.
	Samples []SteadySample
}

// StackNode is a stack in the table: that of another node and one more frame.
type StackNode struct {
	// Before is the number of the node with the other frames, 0 if Frame is the outermost one.
	Before uint64
	// Frame is the innermost frame as Java prints it; its line and module may be missing.
	Frame string
}

// SteadySample is a stack of a thread at one moment.
type SteadySample struct {
	// Thread is its index.
	Thread uint32
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// State is what the thread was doing.
	State ThreadState
	// Node is the number of its stack in the table, 0 if it had no frames.
	Node uint64
	// Record is the number of the thread's next record right before the stack was taken. Records is how many it made
	// until it had been taken: the stack is of a moment between the two.
	Record, Records uint64
	// CPU is how long the thread had been on a processor by then, in nanoseconds; -1 if that is not known.
	CPU int64
}

func (*Stacks) chunk() {}

// decodeStacks reads the chunk of steady samples. Times and numbers are written as differences.
func decodeStacks(p *payload) *Stacks {
	c := &Stacks{Anew: p.u8()&1 != 0, Nodes: list(p, 2, func(p *payload) StackNode {
		return StackNode{p.uv(), p.name()}
	})}
	type last struct {
		record uint64
		cpu    int64
	}
	nanos, of := int64(0), map[uint32]last{}
	c.Samples = list(p, 7, func(p *payload) SteadySample {
		s := SteadySample{Thread: p.index()}
		nanos += p.sv()
		s.Nanos, s.State, s.Node = nanos, ThreadState(p.u8()), p.uv()
		before := of[s.Thread]
		s.Record = before.record + uint64(p.sv())
		s.Records = p.uv()
		if s.CPU = p.sv(); s.CPU >= 0 {
			s.CPU += before.cpu
			before.cpu = s.CPU
		}
		if s.Record > math.MaxInt64 || s.Records > math.MaxInt64 || s.CPU < -1 {
			p.fail(errors.New("a sample's record or CPU time is out of range"))
		}
		before.record = s.Record
		of[s.Thread] = before
		return s
	})
	return c
}

// follows sets Lost of the samples that were decoded: chunks were lost or damaged since the table began.
func (r *Reader) follows(c *Stacks) {
	wrong := r.damage.LostChunks + r.damage.Malformed
	if c.Anew {
		r.stacks, r.wrongBefore = true, wrong
	}
	r.stacks = r.stacks && r.wrongBefore == wrong
	c.Lost = !r.stacks
}
