package analysis

import "github.com/tracegen/tracegen/trace"

// messageMethods returns the methods whose calls are messages: those that the device had, or else those of the mapping.
func (a *analyzer) messageMethods(meta *trace.Meta) (methods []trace.Method) {
	if methods = meta.MessageMethods(); len(methods) > 0 || a.Mappings == nil {
		return methods
	}
	names, _, err := a.Mappings.Find(a.recording.Name, meta.MappingID(), a.Force)
	if err != nil || names.Mapping() == nil {
		return nil // start reports the error
	}
	for _, id := range names.Mapping().Messages() {
		methods = append(methods, trace.Method(id))
	}
	return methods
}
