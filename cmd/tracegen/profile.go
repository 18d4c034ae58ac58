package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// profiling holds the flags that profile a run. They are hidden from the help: they are meant for developers of
// tracegen, and for users who are asked for a profile.
type profiling struct {
	cpu, memory, trace string // files to write, or ""

	stops []func() error
}

func (p *profiling) options() []option {
	return []option{
		{name: "cpuprofile", flag: text(&p.cpu, ""), hidden: true, file: fileBeside,
			help: "write a CPU profile to `FILE`, for go tool pprof"},
		{name: "memprofile", flag: text(&p.memory, ""), hidden: true, file: fileBeside,
			help: "write a profile of memory allocations to `FILE`, for go tool pprof"},
		{name: "trace", flag: text(&p.trace, ""), hidden: true, file: fileBeside,
			help: "write an execution trace to `FILE`, for go tool trace"},
	}
}

// start starts the profiles whose flags are set. The caller must call stop even if start fails.
func (p *profiling) start() error {
	for _, f := range []struct {
		name, path string
		begin      func(io.Writer) error
		end        func(io.Writer) error
	}{
		{"--cpuprofile", p.cpu, pprof.StartCPUProfile, func(io.Writer) error { pprof.StopCPUProfile(); return nil }},
		{"--trace", p.trace, trace.Start, func(io.Writer) error { trace.Stop(); return nil }},
		{"--memprofile", p.memory, func(io.Writer) error { return nil }, writeMemory},
	} {
		if f.path == "" {
			continue
		}
		file, err := os.Create(f.path)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := f.begin(file); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", f.name, err), file.Close())
		}
		p.stops = append(p.stops, func() error { return errors.Join(f.end(file), file.Close()) })
	}
	return nil
}

// writeMemory writes the profile of all allocations since the start. It collects garbage first, which updates the
// numbers of memory in use.
func writeMemory(w io.Writer) error {
	runtime.GC()
	return pprof.Lookup("allocs").WriteTo(w, 0)
}

// stop ends the profiles and completes their files.
func (p *profiling) stop() error {
	var errs []error
	for _, stop := range p.stops {
		errs = append(errs, stop())
	}
	p.stops = nil
	return errors.Join(errs...)
}
