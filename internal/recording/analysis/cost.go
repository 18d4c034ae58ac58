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
	// leastRan is how many stacks must show a running thread, and leastCPU what the process must have taken, for Plain to
	// be known: before, chance and the start of the JVM decide.
	leastRan = 20
	leastCPU = 2 * time.Second
	// mostOfRecord is more than a record costs, with what the JIT does for it: 100 ns in the dearest of eleven programs.
	mostOfRecord = 200 * time.Nanosecond
)

// newCost returns the cost of a recording, nil if it is not known.
//
// Plain rests on one thing: of what is not tracegen's own, the share that calls take of the program's threads is that
// which they take of all, the JIT too, which compiles them. Stacks show it, but not where few calls are made: Java
// stops threads for stacks at calls, also in a loop that spends its time on other things.
func newCost(c *trace.Cost, of *trace.Completeness) *Cost {
	if c == nil || c.Process <= 0 || c.Recorder < 0 || c.Agent < 0 || c.Recorder >= c.Process-c.Agent {
		return nil
	}
	cost := &Cost{CPU: time.Duration(c.Process), Own: time.Duration(c.Recorder + c.Agent)}
	if n := of.Samples.Ran; n >= leastRan && cost.CPU >= leastCPU {
		rest := cost.CPU - cost.Own
		calls := float64(rest) * float64(of.Samples.OwnRan) / float64(n)
		made := float64(of.Recorded) + 2*float64(of.GatedCalls()+of.WindowCalls)
		cost.Plain = rest - time.Duration(min(calls, made*float64(mostOfRecord)))
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
