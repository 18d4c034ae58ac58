package trace

import (
	"slices"
	"strconv"
	"strings"
)

// methodSet is a set of methods that have IDs, nil if it is empty.
type methodSet []uint64

func newMethodSet(methods []Method) methodSet {
	var s methodSet
	for _, m := range methods {
		if m <= idMask && m != MethodDispatch {
			if s == nil {
				s = make(methodSet, (idMask+1)/64)
			}
			s[m/64] |= 1 << (m % 64)
		}
	}
	return s
}

func (s methodSet) has(m Method) bool { return s != nil && m <= idMask && s[m/64]>>(m%64)&1 != 0 }

// MessageMethods returns the methods whose calls are messages for the device, in ascending order. The device counts
// calls of these methods as it counts messages of a looper.
func (m *Meta) MessageMethods() (methods []Method) {
	for text := range strings.SplitSeq(m.Values["messageMethods"], ",") {
		if id, err := strconv.ParseUint(text, 10, 20); err == nil && id > 0 {
			methods = append(methods, Method(id))
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// Body returns the message of a [SegmentRequest] without the calls that enclose it: a segment whose first call is that
// of the method. Other segments are returned as they are. The result has its own calls.
func (s *Segment) Body() Segment {
	if s.Kind != SegmentRequest {
		return *s
	}
	return s.Part(int32(s.Message))
}

// Part returns a call with all calls below it as a segment, which has the times and records of the whole one. The
// result has its own calls.
func (s *Segment) Part(call int32) Segment {
	part := *s
	next := s.Calls[call].Next
	part.Message, part.Coroutines = 0, nil
	part.Calls = slices.Clone(s.Calls[call:next])
	for i := range part.Calls {
		c := &part.Calls[i]
		c.Next -= call
		c.Parent = max(-1, c.Parent-call)
	}
	part.Samples = samplesWithin(s.Samples, call, next)
	return part
}
