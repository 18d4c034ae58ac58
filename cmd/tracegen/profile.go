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

// profiling holds the flags that say how a run is to be looked at from inside. Help does not show them: they are
// for whoever makes tracegen faster, or is asked to send us a profile.
type profiling struct {
	cpu, memory, trace string // files to write, or ""

	stops []func() error
}

func (p *profiling) options() []option {
	return []option{
		{name: "cpuprofile", flag: text(&p.cpu, ""), hidden: true, file: fileBeside,
			help: "write where the processor's time goes to `FILE`, for go tool pprof"},
		{name: "memprofile", flag: text(&p.memory, ""), hidden: true, file: fileBeside,
			help: "write which memory was allocated to `FILE`, for go tool pprof"},
		{name: "trace", flag: text(&p.trace, ""), hidden: true, file: fileBeside,
			help: "write what ran when to `FILE`, for go tool trace"},
	}
}

// start begins what was asked for. stop has to be called also if it fails.
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

// writeMemory writes all allocations since the start. What is still in use shows only after a collection.
func writeMemory(w io.Writer) error {
	runtime.GC()
	return pprof.Lookup("allocs").WriteTo(w, 0)
}

// stop ends what start began, and writes it.
func (p *profiling) stop() error {
	var errs []error
	for _, stop := range p.stops {
		errs = append(errs, stop())
	}
	p.stops = nil
	return errors.Join(errs...)
}
