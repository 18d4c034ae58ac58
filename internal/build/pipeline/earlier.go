package pipeline

import (
	"bytes"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// earlier is a round of writing in which classes failed. The next round copies from its archives what it would write
// again: the classes that have the same task, IDs included. What a class becomes, and what the checks say of it,
// depends on nothing else that differs between rounds: they see the other classes as they came. So a class that no JVM
// links does not make the run rewrite all others twice.
type earlier struct {
	set      *input.Set
	by       plan.Decisions
	stage    *output.Stage // with the outputs of the round
	archives []*zipfile.Archive
	inputs   []earlierInput

	mu   sync.Mutex
	kept []int // numbers of the classes that were copied
}

// earlierInput is an input in an earlier round.
type earlierInput struct {
	entries map[string]*zipfile.Entry // of its output, by name; nil for a name of several
	record  *output.InputRecord
	calls   map[int]int // by number of class among those of the input
}

// setAside takes the outputs of a round out of the stage.
func (r *rounds) setAside(by plan.Decisions) *earlier {
	e := &earlier{set: r.set, by: by, stage: r.stage.Take(), inputs: make([]earlierInput, len(r.set.Inputs))}
	for i, job := range r.jobs {
		path, staged := e.stage.Written(job.Path)
		if job.Kind != input.Archive || !staged {
			continue
		}
		archive, err := zipfile.Open(path)
		if err != nil {
			continue // its classes are written again
		}
		e.archives = append(e.archives, archive)
		entries := make(map[string]*zipfile.Entry)
		for k := range archive.Entries() {
			entry := &archive.Entries()[k]
			if _, twice := entries[entry.Name]; twice {
				entry = nil
			}
			entries[archive.Entries()[k].Name] = entry
		}
		for at, number := range job.Inputs {
			in := earlierInput{entries, &r.records[i].Inputs[at], make(map[int]int)}
			for _, c := range in.record.Classes {
				in.calls[c.Class] = c.Calls
			}
			e.inputs[number] = in
		}
	}
	return e
}

// Kept returns a class that the earlier round has written as one by these decisions would.
func (e *earlier) Kept(class int, by plan.Decisions) (output.Kept, bool) {
	at := e.set.Classes[class]
	in, from := &e.inputs[at.Container.Input], e.set.Inputs[at.Container.Input]
	entry, number := in.entries[at.Name], class-from.First
	if entry == nil || at.Container != from.Containers[0] || !e.by.Changes(class) {
		return output.Kept{}, false
	}
	// A class that failed has another task now. One with a fault that is tolerated is checked again, and noted.
	_, fault := in.record.Notes.Tolerated[number]
	if fault || !bytes.Equal(packedTask(e.by, class), packedTask(by, class)) {
		return output.Kept{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = append(e.kept, class)
	return output.Kept{Entry: entry, Calls: in.calls[number]}, true
}

func packedTask(by plan.Decisions, class int) []byte {
	task, k := by.Task(class, nil), wire.NewPacker()
	task.Pack(k)
	return k.Bytes()
}

// note adds to the records of the next round what the type checker has noted about the classes that were copied.
func (e *earlier) note(jobs []output.Job, records []*output.Record) {
	slices.Sort(e.kept)
	for i, job := range jobs {
		for at, number := range job.Inputs {
			first, end := e.set.ClassesOf(number)
			from, _ := slices.BinarySearch(e.kept, first)
			for _, class := range e.kept[from:] {
				if class >= end {
					break
				}
				was := &e.inputs[number].record.Notes
				records[i].Inputs[at].Notes.Add(class-first, was.Asked[class-first])
			}
		}
	}
}

// close removes the outputs.
func (e *earlier) close() {
	for _, archive := range e.archives {
		archive.Close()
	}
	e.stage.Abort()
}
