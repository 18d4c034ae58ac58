package analysis

import (
	"fmt"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// Cost is what recording has cost the program, as far as the recording shows it.
type Cost struct {
	// CPU is the processor time of the whole process, Own the part of it that tracegen's threads and agent took.
	CPU time.Duration `json:"cpuNanos"`
	Own time.Duration `json:"ownNanos"`
	// Plain is about what the program would have taken by itself; 0 if that is not known.
	Plain time.Duration `json:"plainNanos"`
}

const (
	// leastSeen is how much processor time stacks must show, and leastCPU what the process must have taken, for Plain to
	// be known: before, the start of the JVM and chance decide.
	leastSeen = 500 * time.Millisecond
	leastCPU  = 2 * time.Second
)

// newCost returns the cost of a recording, nil if it is not known.
//
// Plain rests on one thing: of what is not tracegen's own, the share that calls take of the program's threads is that
// which they take of all, the JIT too, which compiles them. Stacks show it.
func newCost(c *trace.Cost, s trace.SampleCounts) *Cost {
	if c == nil || c.Process <= 0 || c.Recorder < 0 || c.Agent < 0 || c.Recorder >= c.Process-c.Agent {
		return nil
	}
	cost := &Cost{CPU: time.Duration(c.Process), Own: time.Duration(c.Recorder + c.Agent)}
	if seen := time.Duration(s.CPU); seen >= leastSeen && cost.CPU >= leastCPU {
		cost.Plain = time.Duration(float64(cost.CPU-cost.Own) * (1 - float64(s.OwnCPU)/float64(s.CPU)))
	}
	return cost
}

// SumCosts returns the cost of several recordings together, nil if that of one is not known.
func SumCosts(list []*Cost) *Cost {
	sum := &Cost{}
	known := len(list) > 0
	for _, c := range list {
		if c == nil {
			return nil
		}
		sum.CPU, sum.Own, sum.Plain = sum.CPU+c.CPU, sum.Own+c.Own, sum.Plain+c.Plain
		known = known && c.Plain > 0
	}
	if sum.CPU == 0 {
		return nil
	}
	if !known {
		sum.Plain = 0
	}
	return sum
}

// AtLeast returns how many times the processor time of the plain program the process took at least.
func (c *Cost) AtLeast() float64 { return float64(c.CPU) / float64(c.CPU-c.Own) }

// About returns how many times the processor time of the plain program the process took about, 0 if that is not known.
func (c *Cost) About() float64 {
	if c.Plain <= 0 {
		return 0
	}
	return float64(c.CPU) / float64(c.Plain)
}

// String says what is known.
func (c *Cost) String() string {
	if c == nil {
		return "not known"
	}
	if about := c.About(); about > 0 {
		return fmt.Sprintf("about %.1f times the CPU time of the plain program, at least %.1f", about, c.AtLeast())
	}
	return fmt.Sprintf("at least %.1f times the CPU time of the plain program", c.AtLeast())
}
