package trace

// Sample is a steady sample at its place in a segment: which recorded calls were open, and which other calls its frames
// show. These are estimated calls: of methods that were switched off or are not traced.
type Sample struct {
	// Call is the index in [Segment.Calls] of the innermost recorded call that was open.
	Call int32
	// State is what the thread was doing.
	State ThreadState
	// Nanos is when, in [Clock.NanoTime].
	Nanos int64
	// Weight is how much of the thread's time in segments it stands for, in nanoseconds.
	Weight int64
	// CPU is how long the thread was on a processor since its sample before, in nanoseconds; -1 if that is not known.
	CPU int64
	// Below are the calls below Call that the frames show, the outermost first.
	Below []Method
	// Between are the calls that lie between recorded calls, from the outermost recorded call on.
	Between []Between
}

// Between has estimated calls between a recorded call that is open and the recorded call that encloses it.
type Between struct {
	// Call is the index of the inner recorded call.
	Call int32
	// Frames are the calls, the outermost first.
	Frames []Method
}

// samplesWithin returns the samples in the calls from one index up to another, as those of a segment of these calls.
func samplesWithin(samples []Sample, from, to int32) (list []Sample) {
	for _, s := range samples {
		if from <= s.Call && s.Call < to {
			list = append(list, s.Moved(func(call int32) int32 { return call - from }))
		}
	}
	return list
}

// Moved returns the sample with other indices of its calls, which are negative where a call is left out.
func (s Sample) Moved(to func(call int32) int32) Sample {
	s.Call = to(s.Call)
	between := s.Between
	s.Between = nil
	for _, b := range between {
		if k := to(b.Call); k >= 0 {
			s.Between = append(s.Between, Between{k, b.Frames})
		}
	}
	return s
}

// FrameNames compares frames of stacks with recorded calls, by the names of the source.
type FrameNames interface {
	Names
	// Frames returns the methods that a stack shows as "Class.method", the innermost first: frames with renamed or
	// inlined methods are restored, and what the recorder itself did is left out. own is whether it was in the recorder.
	Frames(frames []string) (methods []string, own bool)
	// Find returns the method with an ID that has the name "Class.method". ok is false if there is none or several.
	Find(name string) (m Method, ok bool)
}

// SampleCounts counts steady samples.
type SampleCounts struct {
	// Placed is how many are in segments.
	Placed uint64
	// Idle is how many were taken while no recorded call was open.
	Idle uint64
	// Unusable is how many have a stack that is lost, Unfit how many a stack that shows none of the open calls.
	Unusable, Unfit uint64
	// Contradicting is how many show that an open call had ended. [Repairs.Contradicted] has the calls that ended early:
	// also others of the same methods that have no exit.
	Contradicting uint64
	// Own is how many were taken while the thread was in the recorder's own code.
	Own uint64
	// Ran is how many show a thread that ran, had run since its sample before, and did not yield. OwnRan is how many of
	// these were taken in the recorder's own code.
	Ran, OwnRan uint64
}
