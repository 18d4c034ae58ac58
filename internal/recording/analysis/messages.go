package analysis

import (
	"fmt"

	"github.com/tracegen/tracegen/trace"
)

// messageMethods returns the methods whose calls are messages: those that match [Options.Messages], or else those that
// the device had, or else those of the mapping.
func (a *analyzer) messageMethods(meta *trace.Meta) (methods []trace.Method) {
	if methods = meta.MessageMethods(); len(a.Messages) == 0 && len(methods) > 0 || a.Mappings == nil {
		return methods
	}
	names, _, err := a.Mappings.Find(a.recording.Name, meta.MappingID(), a.Force)
	if err != nil || names.Mapping() == nil {
		return methods // start reports the error
	}
	if len(a.Messages) == 0 {
		for _, id := range names.Mapping().Messages() {
			methods = append(methods, trace.Method(id))
		}
		return methods
	}
	methods = nil
	matched := make([]bool, len(a.Messages))
	for e := range names.Mapping().All() {
		for i := range a.Messages {
			if a.Messages[i].MatchMethod(e.Class, e.Name, e.Descriptor) {
				methods, matched[i] = append(methods, trace.Method(e.ID)), true
			}
		}
	}
	for i, ok := range matched {
		if !ok {
			a.recording.unmatched = append(a.recording.unmatched, fmt.Sprintf("%v: no method of the mapping matches",
				a.Messages[i]))
		}
	}
	return methods
}
