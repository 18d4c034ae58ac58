package fold

import "github.com/tracegen/tracegen/trace"

// ShowSuspensions returns a segment in which a call of [trace.MethodSuspended] stands in the innermost call for each
// time in which the process did not run, so that the time is no call's own. The segment itself does not change; it is
// returned if the process ran all the time.
func ShowSuspensions(s *trace.Suspensions, from *trace.Segment) *trace.Segment {
	stopped := s.Within(from.Begin, from.End)
	if len(stopped) == 0 || len(from.Calls) == 0 {
		return from
	}
	out := *from
	out.Calls = make([]trace.Call, 0, len(from.Calls)+len(stopped))
	moved := make([]int32, len(from.Calls))
	type openCall struct {
		from, to int32 // its index in from and in out
		shown    int64 // until when all times in it are there
	}
	var open []openCall
	until := func(at int64) { // shows what the innermost open call has before a time
		if len(open) == 0 {
			return
		}
		o := &open[len(open)-1]
		for _, t := range stopped {
			if begin, end := max(t.Begin, o.shown), min(t.End, at); begin < end {
				next := int32(len(out.Calls)) + 1
				out.Calls = append(out.Calls, trace.Call{Method: trace.MethodSuspended, Parent: o.to, Next: next, Count: 1,
					Begin: begin, End: end})
			}
		}
		o.shown = max(o.shown, at)
	}
	leave := func() {
		last := open[len(open)-1]
		until(from.Calls[last.from].End)
		out.Calls[last.to].Next = int32(len(out.Calls))
		if open = open[:len(open)-1]; len(open) > 0 {
			o := &open[len(open)-1]
			o.shown = max(o.shown, from.Calls[last.from].End)
		}
	}
	for i := range from.Calls {
		for len(open) > 0 && from.Calls[open[len(open)-1].from].Next <= int32(i) {
			leave()
		}
		c := from.Calls[i]
		until(c.Begin)
		c.Parent = -1
		if len(open) > 0 {
			c.Parent = open[len(open)-1].to
		}
		if i == from.Message {
			out.Message = len(out.Calls)
		}
		moved[i] = int32(len(out.Calls))
		open = append(open, openCall{int32(i), moved[i], c.Begin})
		out.Calls = append(out.Calls, c)
	}
	for len(open) > 0 {
		leave()
	}
	out.Coroutines = nil
	out.Samples = make([]trace.Sample, len(from.Samples))
	for i := range from.Samples {
		out.Samples[i] = from.Samples[i].Moved(func(call int32) int32 { return moved[call] })
	}
	return &out
}
