package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/trace"
)

// PartlyRecorded reports whether there are threads that are not recorded, as far as that is known.
func (r *Recording) PartlyRecorded() bool {
	if c := r.Completeness; c != nil && slices.ContainsFunc(c.Dropped, func(d DroppedCount) bool {
		return d.kind == trace.DroppedVirtual
	}) {
		return true
	}
	if threads := r.Meta["threads"]; threads != "" {
		return !strings.Contains(threads, "all")
	}
	return r.Threads <= 1
}

// resumed says which suspend function the thread resumed again and again for half of the stall.
func (s *Stall) resumed(j *coroutine.Joiner) {
	list := j.Resumed(s.Thread.Index, s.begin, s.begin+s.Wall.Nanoseconds())
	if len(list) > 0 && list[0].Count > 1 && enough(list[0].Took, s.Ran) {
		s.Verdict.Text += fmt.Sprintf("; %s was resumed %d times", s.Names.Method(list[0].Method), list[0].Count)
	}
}

// inRunBlocking reports whether a stack waits in runBlocking for a coroutine.
func inRunBlocking(frames []string) bool {
	return slices.ContainsFunc(frames, func(f string) bool {
		return foreign.FrameMethod(f) == "kotlinx.coroutines.BlockingCoroutine.joinBlocking"
	})
}

// glue reports whether a method is of Kotlin's library, or of a class of a lambda and made by the compiler.
func (r *Recording) glue(m trace.Method) bool {
	name, _ := r.Names.Name(m)
	switch {
	case strings.HasPrefix(name.Class, "kotlin."), strings.HasPrefix(name.Class, "kotlinx.coroutines."):
		return true
	case name.Method == "create":
		return strings.HasSuffix(name.Descriptor, ")Lkotlin/coroutines/Continuation;")
	case name.Method == "invoke":
		last := name.Class[strings.LastIndexByte(name.Class, '$')+1:]
		return last != "" && last[0] >= '0' && last[0] <= '9'
	}
	return false
}
