package inject_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
)

// FuzzRewrite calls the package with any class that parses. Nothing may panic or go on forever, and Rewrite must
// not fail for methods that Try accepts. The fuzz tests of package verify check that the result is right.
func FuzzRewrite(f *testing.F) {
	for _, c := range append(realClasses(f), nearTheLimits()[:2]...) {
		if len(c.Bytes()) < 10_000 {
			f.Add(c.Bytes(), uint32(300), byte(len(c.Methods())))
		}
	}
	for _, shape := range shapes {
		f.Add(shape.class().Bytes(), uint32(5), byte(2))
	}
	exits := inject.ExitModes()
	f.Fuzz(func(t *testing.T, data []byte, id uint32, mode byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		o := inject.Options{Exits: exits[int(mode)%len(exits)],
			ConstructorEntry: inject.ConstructorEntry(int(mode) / len(exits) % 2), KeepCompilable: mode&64 != 0,
			Posts: mode&128 != 0}
		in := inject.New(o)
		request := inject.Request{}
		for _, m := range acceptable(in, c) {
			request.Methods = append(request.Methods, inject.Traced{Method: m, ID: 1 + id%1048573})
		}
		if _, err := in.Rewrite(c, request); err != nil {
			t.Errorf("accepted, then: %v", err)
		}
		in.Try(c, nil, inject.FocusAdd)
		in.Try(c, nil, inject.FocusHook)
		inject.FocusHooks(map[string]inject.Ancestry{c.Name(): inject.AncestryOf(c)})
		_ = inject.CheckRuntime(c, true, inject.Options{Posts: true, Coroutines: true})
		_ = inject.CheckMappingInfo(c)
		_, _ = inject.AddRequires(c, "m")
		reaching := inject.Options{RuntimeClass: c.Name(), Posts: true, Coroutines: true}
		_, err = inject.Reached(reaching, func(name string) ([]inject.Calls, error) {
			if name == c.Name() {
				return []inject.Calls{inject.CallsOf(c), inject.CallsOf(c)}, nil
			}
			return nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
