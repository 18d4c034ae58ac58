package analysis

import "github.com/tracegen/tracegen/trace"

// unwound sums up the calls whose exits are missing because an exception left them. When such a call ended is not
// recorded: it seems to last until a call around it ends, and what its callers did meanwhile seems to be inside of it.
type unwound struct {
	time      int64              // of these calls, in nanoseconds; that of calls inside of others counts once
	all       int64              // of all segments
	suspended map[uint32][]int64 // per thread: when the calls began that go on in its next segment
}

// largeUnwound is the share of the time in such calls from which a report warns of it.
const largeUnwound = 0.05

// add takes the calls of a segment.
func (u *unwound) add(s *trace.Segment) {
	u.all += s.End - s.Begin
	if len(s.Calls) == 0 {
		return
	}
	if s.Repairs.Unwound == 0 && len(u.suspended[s.Thread]) == 0 && s.Calls[0].Marks&trace.MarkSuspended == 0 {
		return // the usual case
	}
	began := u.suspended[s.Thread]
	var suspended []int64
	var counted int32 // the calls before it are in one that was counted
	for i := range s.Calls {
		c := &s.Calls[i]
		begin := c.Begin
		if c.Marks&trace.MarkResumed != 0 && len(began) > 0 {
			begin, began = began[0], began[1:]
		}
		if c.Marks&trace.MarkSuspended != 0 {
			suspended = append(suspended, begin)
		}
		if c.Marks&trace.MarkUnwound != 0 && int32(i) >= counted {
			u.time += c.End - begin
			counted = c.Next
		}
	}
	if len(suspended) == 0 {
		delete(u.suspended, s.Thread)
		return
	}
	if u.suspended == nil {
		u.suspended = map[uint32][]int64{}
	}
	u.suspended[s.Thread] = suspended
}

// share returns which share of the time is in these calls, from 0 to 1.
func (u *unwound) share() float64 {
	if u.time == 0 || u.all == 0 {
		return 0
	}
	return min(float64(u.time)/float64(u.all), 1)
}
