package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles writes profiles of a run, for developers of tracegen: a CPU profile into the file that the variable
// TRACEGEN_CPUPROFILE names, and one of memory allocations into that of TRACEGEN_MEMPROFILE.
type profiles struct {
	stops []func() error
}

// start starts the profiles that are wanted. The caller must call stop even if start fails.
func (p *profiles) start() error {
	for _, f := range []struct {
		variable string
		begin    func(io.Writer) error
		end      func(io.Writer) error
	}{
		{"TRACEGEN_CPUPROFILE", pprof.StartCPUProfile, func(io.Writer) error { pprof.StopCPUProfile(); return nil }},
		{"TRACEGEN_MEMPROFILE", func(io.Writer) error { return nil }, writeMemory},
	} {
		path := os.Getenv(f.variable)
		if path == "" {
			continue
		}
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("%s: %w", f.variable, err)
		}
		if err := f.begin(file); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", f.variable, err), file.Close())
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
func (p *profiles) stop() error {
	var errs []error
	for _, stop := range p.stops {
		errs = append(errs, stop())
	}
	p.stops = nil
	return errors.Join(errs...)
}
