package main

import (
	"context"
	"runtime/pprof"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/mapping"
)

func main() {
	exits := flag.String("exits", "throws", "")
	none := flag.Bool("none", false, "")
	compact := flag.Bool("compact", false, "")
	strip := flag.Bool("strip", false, "")
	store := flag.Bool("store", false, "")
	after := flag.Bool("after", false, "")
	jobs := flag.Int("j", 0, "")
	flag.Parse()
	c := pipeline.Config{RuntimeExternal: true, Jobs: *jobs}
	o := filter.Options{}
	if *none { o.Trivial = filter.None }
	if *compact { c.Order = mapping.OrderCompact }
	if *store { c.Level = jar.LevelStore }
	if *after { c.Inject.ConstructorEntry = inject.EntryAfterSuper }
	c.Filter = filter.New(o)
	switch *exits { case "normal": c.Inject.Exits = inject.ExitsNormal; case "exact": c.Inject.Exits = inject.ExitsExact }
	c.Inputs = []pipeline.Input{{Path: flag.Arg(0), Output: flag.Arg(1)}}
	c.Files = func(r *pipeline.Result) ([]pipeline.File, error) { return []pipeline.File{{flag.Arg(1)+".txt", r.Mapping}}, nil }
	if pf := os.Getenv("PROF"); pf != "" { f, _ := os.Create(pf); pprof.StartCPUProfile(f); defer pprof.StopCPUProfile() }
	t := time.Now()
	f := pipeline.Run
	if *strip { f = pipeline.Strip }
	r, err := f(context.Background(), c)
	if err != nil { fmt.Println("ERR", err); os.Exit(2) }
	counts := map[filter.Reason]int{}
	for _, s := range r.Skipped { counts[s.Reason]++; if s.Reason == "unverifiable" || s.Reason == "malformed" || s.Reason=="unknown-attribute"|| s.Reason=="no-entry"  { fmt.Println(s) } }
	for _, w := range r.Warnings { fmt.Println("WARN", w) }
	fmt.Printf("%+v %v %v\n", r.Inputs, counts, time.Since(t))
	_ = io.Discard
}
