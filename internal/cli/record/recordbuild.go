package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/record/launch"
	"github.com/tracegen/tracegen/internal/record/program"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// The files of an instrumented program.
const (
	classesName = "classes.tgclasses"
	runtimeName = "tracegen-runtime.jar"
	agentName   = "tracegen-agent.jar"
	summaryName = "summary.json"
)

// programSummary is what record says about an instrumented program.
type programSummary struct {
	Archives   int `json:"archives"`
	Classes    int `json:"classes"`
	Rewritten  int `json:"rewritten"`
	Methods    int `json:"methods"`
	Traced     int `json:"traced"`
	Introduced int `json:"introduced"`
	// Libraries are those of Archives that are not of the program itself, and OfLibraries their methods.
	Libraries   int                 `json:"libraries"`
	OfLibraries buildreport.Methods `json:"ofLibraries"`
	Skipped     string              `json:"skipped"`  // the reasons why nothing is traced, if nothing is
	Messages    []string            `json:"messages"` // IDs of methods whose calls are messages
	Warnings    []string            `json:"warnings"`
	Runtime     string              `json:"runtime"` // the archive that has a runtime class of its own, or ""
}

// prepare finds the instrumented program in the cache, or instruments it.
func (r *recorder) prepare(ctx context.Context, containers []string) error {
	if err := r.resolveBuild(); err != nil {
		return err
	}
	directory, size, err := r.cache()
	if err != nil {
		return err
	}
	store, err := program.OpenStore(filepath.Join(directory, "programs"), size/2)
	if err != nil {
		return err
	}
	key, err := r.key(containers)
	if err != nil {
		return err
	}
	reused := false
	if r.kept, reused = store.Find(key); !reused {
		ctx, stop := cli.Interruptible(ctx)
		defer stop()
		if r.kept, err = r.instrument(ctx, store, key, containers); err != nil {
			return err
		}
		if err := store.Trim(); err != nil {
			r.con.Warn("%v", err)
		}
	}
	return r.describe(reused)
}

// describe reads the summary of the program, and prints it.
func (r *recorder) describe(reused bool) error {
	data, err := os.ReadFile(filepath.Join(r.kept, summaryName))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &r.summary); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.kept, summaryName), err)
	}
	s := &r.summary
	for _, w := range s.Warnings {
		r.con.Detail("%s", w)
	}
	if s.Introduced > 0 {
		r.con.Warn("%d classes failed a check after they were rewritten, and are not traced; please report this",
			s.Introduced)
	}
	if s.Runtime != "" {
		r.con.Warn("%s has a class %s of its own; while the program is recorded, tracegen's takes its place", s.Runtime,
			strings.ReplaceAll(contract.RuntimeClass, "/", "."))
	}
	if r.con.Quiet {
		return nil
	}
	what := "instrumented"
	if reused {
		what = "reused, as nothing has changed"
	}
	of := ""
	if s.Archives > 1 {
		of = fmt.Sprintf(" of %d archives and directories", s.Archives)
	}
	r.con.Inform("%s: %d of %d methods traced, in %d of %d classes%s", what, s.Traced, s.Methods, s.Rewritten, s.Classes,
		of)
	if of := s.OfLibraries; of.WithCode > of.Traced {
		r.con.Inform("libraries, in %d of the archives: %d of %d methods are traced; --scope all traces them as the program "+
			"itself", s.Libraries, of.Traced, of.WithCode)
	}
	return nil
}

// resolveBuild resolves the options of the build, and reads the files that they name.
func (r *recorder) resolveBuild() error {
	if r.command == nil {
		return r.build.Resolve(r.messages, "")
	}
	home, err := launch.Home(r.args[0])
	if err != nil {
		return err
	}
	if !launch.TakesAgents(home) {
		return fmt.Errorf("the Java in %s has no module java.instrument, which record needs: use another java, or add "+
			"the module to the list of jlink --add-modules", home)
	}
	return r.build.Resolve(r.messages, home)
}

// cache returns the directory of the cache and its size.
func (r *recorder) cache() (directory string, size int64, err error) {
	directory, size = r.build.Cache()
	if directory != "" {
		return directory, size, nil
	}
	if directory, err = os.UserCacheDir(); err != nil {
		return "", 0, fmt.Errorf("no directory for the cache: %w; name one by --cache", err)
	}
	return filepath.Join(directory, "tracegen", "record"), size, nil
}

// key returns the key of the program in the cache.
func (r *recorder) key(containers []string) (cache.Key, error) {
	options, err := r.build.Key()
	if err != nil {
		return cache.Key{}, err
	}
	return program.KeyOf(containers, append(options, append([]string{r.mainClass()}, r.named...)...)...)
}

// mainClass returns the name of the main class, "" if it is not known.
func (r *recorder) mainClass() string {
	if r.command == nil {
		return ""
	}
	return r.command.MainClass()
}

// instrument instruments the program and puts it into the store. It returns the directory.
func (r *recorder) instrument(ctx context.Context, store *program.Store, key cache.Key, containers []string) (string,
	error) {
	began := time.Now()
	dir, err := store.Begin()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // has another name after success
	work, err := store.Begin()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	gathered, err := program.Gather(containers, r.named, work, r.mainClass())
	if err != nil {
		return "", err
	}
	for _, skipped := range gathered.Skipped {
		r.con.Warn("not instrumented: %v", skipped)
	}
	runtime := filepath.Join(work, runtimeName)
	if err := os.WriteFile(runtime, runtimejars.JVM().Data, 0o666); err != nil {
		return "", err
	}
	pairs, err := r.rewrite(ctx, dir, work, runtime, gathered)
	if err != nil {
		return "", err
	}
	if _, err := program.WriteClasses(filepath.Join(dir, classesName), pairs); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, agentName), runtimejars.Agent().Data, 0o666); err != nil {
		return "", err
	}
	if again, err := r.key(containers); err != nil || again != key {
		return "", errors.Join(err, errors.New("the program has changed while tracegen was reading it; run it again"))
	}
	r.con.Detail("instrumented in %.1f s; %d archives were in others", time.Since(began).Seconds(), gathered.Nested)
	return store.Commit(key, dir)
}

// rewrite instruments the archives into work, and writes the runtime, the mapping and the summary into dir.
func (r *recorder) rewrite(ctx context.Context, dir, work, runtime string, gathered *program.Gathered) (
	[]program.Pair, error) {
	archives := gathered.Archives
	var inputs []pipeline.Input
	var pairs []program.Pair
	for n, archive := range archives {
		out := filepath.Join(work, "out-"+strconv.Itoa(n)+".jar")
		pairs = append(pairs, program.Pair{Original: archive, Rewritten: out})
		inputs = append(inputs, pipeline.Input{Path: archive, Output: out})
	}
	inputs = append(inputs, pipeline.Input{Path: runtime, Output: filepath.Join(dir, runtimeName)})
	directory, size, err := r.cache()
	if err != nil {
		return nil, err
	}
	result, err := r.build.Instrument(ctx, inputs, gathered.Libraries, filepath.Join(dir, cli.DefaultMapping),
		filepath.Join(directory, "classes"), size/2)
	if err != nil {
		return nil, err
	}
	s := programSummary{Archives: len(archives), Introduced: result.Introduced, Warnings: result.Warnings,
		Runtime: gathered.Runtime, Libraries: len(gathered.Libraries), OfLibraries: result.Libraries}
	for _, in := range result.Inputs[:len(archives)] {
		s.Classes += in.Classes
		s.Rewritten += in.Rewritten
		s.Methods += in.Methods
		s.Traced += in.Traced
	}
	if s.Traced == 0 {
		reasons := map[filter.Reason]int{}
		for m := range result.Skipped {
			if m.Input != runtime {
				reasons[m.Reason]++
			}
		}
		s.Skipped = buildreport.ByReason(reasons)
	}
	for id := range slices.Values(result.Mapping.Messages()) {
		s.Messages = append(s.Messages, strconv.FormatUint(uint64(id), 10))
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return pairs, os.WriteFile(filepath.Join(dir, summaryName), data, 0o666)
}
