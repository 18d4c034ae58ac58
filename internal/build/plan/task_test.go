package plan

import (
	"reflect"
	"testing"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/wire"
)

func packed(t Task) []byte {
	k := wire.NewPacker()
	t.Pack(k)
	return k.Bytes()
}

// TestTasksArePacked sets each field of a task by itself: it is read as it was written, and no two are written alike,
// as what is written is the key of an output in the cache.
//
// Invariant: All that is decided about a class is in its slice and in the cache key of its output.
func TestTasksArePacked(t *testing.T) {
	tasks := []Task{{},
		{Request: inject.Request{Methods: []inject.Traced{{Method: 3, ID: 7}, {Method: 9, ID: 1 << 19}}}},
		{Request: inject.Request{Methods: []inject.Traced{{Method: 3, ID: 7}, {Method: 8, ID: 1 << 19}}}},
		{Request: inject.Request{Methods: []inject.Traced{{Method: 3, ID: 8}, {Method: 9, ID: 1 << 19}}}},
		{Request: inject.Request{Focus: inject.FocusHook}},
		{Request: inject.Request{Focus: inject.FocusAdd}},
		{Request: inject.Request{Digest: "0123456789abcdef"}},
		{Request: inject.Request{Continuation: 5}},
		{Request: inject.Request{Coroutines: true}},
	}
	for i := range reflect.TypeFor[Task]().NumField() {
		var one Task
		if f := reflect.ValueOf(&one).Elem().Field(i); f.Kind() == reflect.Bool {
			f.SetBool(true)
			tasks = append(tasks, one)
		}
	}
	if want := reflect.TypeFor[Task]().NumField() - 1 + reflect.TypeFor[inject.Request]().NumField() +
		4; len(tasks) != want {
		t.Errorf("%d tasks, want %d: is there one for each field?", len(tasks), want)
	}
	seen := make(map[string]Task)
	for _, want := range tasks {
		data := packed(want)
		if other, double := seen[string(data)]; double {
			t.Errorf("%+v and %+v are packed alike", want, other)
		}
		seen[string(data)] = want
		u, got := wire.NewUnpacker(data), Task{}
		if got.Pack(u); !u.End() || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, packed %+v", got, want)
		}
	}
}
