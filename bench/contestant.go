package main

import (
	"fmt"
	"os"
	"os/exec"
)

// contestant is one way to do the job. Its command gets the paths of the input, of the output to write,
// and of the mapping to write.
type contestant struct {
	name    string
	command func(in, out, mapping string) *exec.Cmd
	traces  bool // it writes a mapping and changes classes
}

// contestants lists who is measured. All tracing ones trace every method that may be traced
// (--trivial none), so that they do the same work, but for the one row that shows the default.
func contestants(tool, peer string) ([]contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []contestant
	if _, err := os.Stat(tool); err == nil {
		all = append(all, tracegens(tool)...)
	} else {
		fmt.Fprintf(os.Stderr, "bench: not measured: tracegen: %v (make build)\n", err)
	}
	c1 := []string{"-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"}
	all = append(all,
		asmExpert("asm", peer, nil, "trivial=none"),
		asmExpert("asm C1", peer, c1, "trivial=none"),
		asmExpert("asm counter", peer, nil, "trivial=none", "ids=counter"),
		asmExpert("asm counter C1", peer, c1, "trivial=none", "ids=counter"),
		asmExpert("asm counter C1 j1", peer, c1, "trivial=none", "ids=counter", "jobs=1"),
		asmExpert("asm counter C1 store", peer, c1, "trivial=none", "ids=counter", "level=0"),
		asmExpert("asm smart", peer, nil, "trivial=smart"),
		asmExpert("asm smart C1", peer, c1, "trivial=smart"),
	)
	zipOnly := asmExpert("zip only, java", peer, nil, "zip=true")
	zipOnly.traces = false
	all = append(all, zipOnly)
	for _, method := range rezipMethods {
		all = append(all, contestant{
			name: "zip only, go " + method,
			command: func(in, out, _ string) *exec.Cmd {
				return exec.Command(self, rezipCommand, method, in, out)
			},
		})
	}
	return all, nil
}

func tracegens(tool string) []contestant {
	variant := func(name string, options ...string) contestant {
		return contestant{name: name, traces: true, command: func(in, out, mapping string) *exec.Cmd {
			args := []string{"instrument", in, "-o", out, "--mapping", mapping, "--runtime-external", "-q"}
			return exec.Command(tool, append(args, options...)...)
		}}
	}
	none := func(name string, options ...string) contestant {
		return variant(name, append([]string{"--trivial", "none"}, options...)...)
	}
	return []contestant{
		none("tracegen compact", "--id-order", "compact"),
		none("tracegen compact equivalence", "--id-order", "compact", "--verify", "equivalence"),
		none("tracegen hash"),
		none("tracegen compact j1", "--id-order", "compact", "-j", "1"),
		none("tracegen compact j1 store", "--id-order", "compact", "-j", "1", "--compression", "store"),
		none("tracegen compact store", "--id-order", "compact", "--compression", "store"),
		none("tracegen compact fast", "--id-order", "compact", "--compression", "fast"),
		variant("tracegen smart hash (the default)"),
		variant("tracegen smart compact", "--id-order", "compact"),
	}
}

func asmExpert(name, peer string, jvm []string, options ...string) contestant {
	return contestant{name: name, traces: true, command: func(in, out, mapping string) *exec.Cmd {
		args := append(append([]string{}, jvm...), "-cp", peer, "dev.tracegen.bench.AsmExpert", in, out, mapping)
		return exec.Command("java", append(args, options...)...)
	}}
}
