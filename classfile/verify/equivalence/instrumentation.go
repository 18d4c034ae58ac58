package equivalence

// Instrumentation says what a class was to be given, and so what [Check] must find in it. Its fields are demands on the
// class file, not modes of the injector. Every traced method must have one entry call and an exit call before every
// return; the fields demand more.
type Instrumentation struct {
	RuntimeClass string // the class whose methods are called, in internal form

	// Exits says which exit calls are demanded besides those before returns.
	Exits Exits

	// EntryAfterSuper demands that a constructor's entry calls stand after each call of another constructor that
	// initialises `this`, not at the constructor's start.
	EntryAfterSuper bool

	// Posts demands a probe before every call that posts a message (see postcalls.go) that a path reaches, in every
	// method that has an ID.
	Posts bool

	// Coroutines demands that the exit call before an areturn of suspending code takes the result (see
	// coroutinecalls.go).
	Coroutines bool

	// Continuation is the ID with which a continuation class must report its instances: behind the call that
	// initialises `this` in constructors that never write local variable 0, and at the start of invokeSuspend. It is 0
	// if the class must not.
	Continuation uint32

	// IDs holds the method ID of each method, by its index in the original. A method whose ID is 0, or for which there
	// is no element, must have no calls.
	IDs []uint32

	// FocusHooked demands that the onWindowFocusChanged(Z)V of the original calls at; FocusAdded, that the method was
	// added, as the last.
	FocusHooked, FocusAdded bool

	Digest string // the digest that MappingInfo.digest() must return, "" if the class must not be stamped
}

func (w *Instrumentation) id(method int) uint32 {
	if method < len(w.IDs) {
		return w.IDs[method]
	}
	return 0
}

// entryAfterSuper reports whether constructors must have their entry calls after the call of another constructor.
func (w *Instrumentation) entryAfterSuper() bool { return w.EntryAfterSuper || w.Exits.Handler }
