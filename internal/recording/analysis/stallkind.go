package analysis

import (
	"time"

	"github.com/tracegen/tracegen/trace"
)

// StallKind is what a stall is, named as in the reports of devices.
type StallKind string

// The kinds of stalls.
const (
	StallMessage     StallKind = "message"      // a message of a Looper, or an outermost call
	StallIdleHandler StallKind = "idle-handler" // a run of an IdleHandler
	StallInput       StallKind = "input"        // an input event
)

// stallKind returns the kind that a recording has for a stall. One that this program does not know is a message.
func stallKind(kind trace.MessageKind) StallKind {
	switch kind {
	case trace.MessageIdleHandler:
		return StallIdleHandler
	case trace.MessageInput:
		return StallInput
	}
	return StallMessage
}

// thresholdOf returns how long a stall of a kind lasts at least; 0 if the recording does not say.
func (r *Recording) thresholdOf(kind trace.MessageKind) time.Duration {
	threshold, _ := r.About().StallThreshold(kind)
	return threshold
}
