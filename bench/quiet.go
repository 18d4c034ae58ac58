package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// quietPercent is the share of the cores that other processes may have used if wall times are to count.
const quietPercent = 10

// processorTime is the time of all cores since the machine was started.
type processorTime struct {
	busy, stolen, all float64 // in ticks; stolen is the time of other virtual machines
}

// readProcessorTime reads Linux's counters; on other systems it returns none.
func readProcessorTime() (t processorTime, ok bool) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	return parseProcessorTime(line)
}

// parseProcessorTime reads the first line of /proc/stat (proc_stat(5)).
func parseProcessorTime(line string) (t processorTime, ok bool) {
	var user, nice, system, idle, wait, irq, softirq, stolen float64
	if _, err := fmt.Sscanf(line, "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &softirq,
		&stolen); err != nil {
		return t, false
	}
	t.busy = user + nice + system + irq + softirq
	t.stolen = stolen
	t.all = t.busy + stolen + idle + wait
	return t, true
}

// watch holds the processor time at the start of measuring.
type watch struct {
	start time.Time
	then  processorTime
	ours  time.Duration
	known bool
}

func startWatch() watch {
	w := watch{start: time.Now(), ours: cpuTime() + childrenTime()}
	w.then, w.known = readProcessorTime()
	return w
}

// conditions returns how long measuring took and which share of the cores other processes used meanwhile.
func (w watch) conditions() []string {
	took := time.Since(w.start)
	said := []string{"duration: " + took.Round(time.Second).String()}
	now, ok := readProcessorTime()
	if !ok || !w.known || now.all <= w.then.all {
		return append(said, "others: unknown")
	}
	all := now.all - w.then.all
	const ticks = 100 // a second, on every Linux that there is
	ours := (cpuTime() + childrenTime() - w.ours).Seconds() * ticks
	others := max(now.busy-w.then.busy-ours, 0)
	return append(said, fmt.Sprintf("others: %.0f %% of the cores, and %.0f %% were stolen by other machines",
		100*others/all, 100*(now.stolen-w.then.stolen)/all))
}

// disturbed reports whether other processes used so much of the machine that wall times mean little.
func (r *record) disturbed() bool {
	var others, stolen float64
	_, err := fmt.Sscanf(r.condition("others"), "%f %% of the cores, and %f %%", &others, &stolen)
	return err == nil && others+stolen > quietPercent
}

// disturbance is the first sentence of the page of a disturbed measurement.
const disturbance = "**Others used the machine meanwhile: wall times say little here, CPU times more.**"
