package equivalence

// Instrumentation says what a class was to be given, and so what [Check] must find in it: facts about the class file, not
// the modes of whatever inserted the calls. The zero value of each field demands nothing beyond what all
// instrumentation has: a traced method has one entry call and an exit call before every return.
type Instrumentation struct {
	RuntimeClass string // of the methods called, in internal form

	// ExitAtUncaughtThrow demands an exit call before every athrow that no exception table entry of its method covers.
	ExitAtUncaughtThrow bool
	// ExitHandler demands one handler around the method, which reports every other way out. It implies EntryAfterSuper.
	ExitHandler bool
	// EntryAfterSuper demands that a constructor's entry calls stand behind each call of another constructor that
	// initialises `this`, not at the constructor's start.
	EntryAfterSuper bool

	// IDs holds what each method of the original must report, by index; 0, and no element, for one that
	// must not report.
	IDs []uint32

	// FocusHooked demands that the onWindowFocusChanged(Z)V of the original calls at; FocusAdded, that the method was
	// added, as the last.
	FocusHooked, FocusAdded bool

	Digest string // what MappingInfo must have been stamped with, "" for nothing
}

func (w *Instrumentation) id(method int) uint32 {
	if method < len(w.IDs) {
		return w.IDs[method]
	}
	return 0
}
