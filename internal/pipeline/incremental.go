package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/cache"
)

// Incremental lets [Run] take over what earlier runs came to. The outputs are those of a run without it, byte for byte,
// and so are mapping, lists and warnings.
//
// Two things are kept of an input. What the scan found out depends on its content, and on what decides about classes
// one by one. What was written depends on its content and on the decisions about it, IDs included, whatever they come
// from. All that needs the whole is decided anew in every run.
//
// A file is known by its content alone, so that it may be renamed or moved. Only an output that is already there is
// believed to be as it was left if its size, times and inode say so; where they could be wrong it is read.
type Incremental struct {
	// Cache is where they have written it down.
	Cache *cache.Cache
	// Tool tells this build of the program from all others.
	Tool string
	// Rules is all that Config.Filter was made of: filters of one text decide alike.
	Rules string
	// Directory is where the outputs go, if each of them is named there by its input: outputs of earlier runs whose inputs
	// are not given any more are removed from it, unless somebody changed them. "" removes none.
	Directory string
	// Spare lists files and directories that are never removed: those that are read or written beside.
	Spare []string
	// Known, unless nil, is told how many of how many inputs an earlier run has scanned, before what it found out is read.
	Known func(known, inputs int)
	// Detail is told what was taken over, and Warn what is wrong with the cache. Neither is part of the result, which is
	// the same without a cache.
	Detail, Warn func(message string)
}

// incremental is what a run knows of what earlier runs came to. All methods of a nil one do nothing.
type incremental struct {
	*Incremental
	run    *run
	inputs []knownInput // as Config.Inputs
	around string       // what the type verifier judges by; "" if that cannot be told
	units  [][]*unit    // by input
	places places
	grown  bool // something has been kept
	broken bool // the cache cannot be written

	recalled int                // inputs
	fresh    map[cache.Key]bool // outputs that this run has written

	// Of the round of writing that is going on.
	deliveries            []*delivery
	notes                 []notes // by input
	warned                int     // warnings before it
	left, copied, written int     // outputs

	mu    sync.Mutex // for counts, and for the run's outputs
	voice sync.Mutex // Detail is called by one worker at a time
}

// knownInput is what is known of an input by its content.
type knownInput struct {
	content cache.Key
	known   bool         // content is
	key     cache.Key    // of what the scan found out
	scan    *scanned     // what it found out in an earlier run; nil if that is not known
	lazy    bool         // has not been opened in this run, for nobody needs its bytes
	pending *cache.Entry // what it found out in this run
}

func newIncremental(r *run, c *Incremental) *incremental {
	if c == nil {
		return nil
	}
	return &incremental{Incremental: c, run: r, inputs: make([]knownInput, len(r.config.Inputs)), fresh: make(map[cache.Key]bool)}
}

func (m *incremental) detail(format string, args ...any) {
	if m.Detail != nil {
		m.voice.Lock()
		defer m.voice.Unlock()
		m.Detail("cache: " + fmt.Sprintf(format, args...))
	}
}

// fail warns, once, that nothing more is kept.
func (m *incremental) fail(err error) {
	if !m.broken && m.Warn != nil {
		m.Warn(fmt.Sprintf("nothing is kept for the next run: %v", err))
	}
	m.broken = true
}

// keeps says whether what this run comes to is to be kept.
func (m *incremental) keeps() bool { return m != nil && !m.broken && !m.run.config.DryRun }

// get reads an entry of the cache, nil if there is none that is whole.
func (m *incremental) get(key cache.Key) []byte {
	data, err := m.Cache.Get(key)
	if err != nil {
		m.note(err)
		return nil
	}
	return data
}

// note tells why an entry could not be read, unless it is simply not there.
func (m *incremental) note(err error) {
	if err != nil && !errors.Is(err, cache.ErrMissing) {
		m.detail("%v; it is made again", err)
	}
}

// begin recognises the inputs, and reads what earlier scans found out about them.
func (m *incremental) begin(ctx context.Context) error {
	if m == nil {
		return nil
	}
	c := &m.run.config
	paths := m.run.inputPaths()
	judged := !c.Disabled && c.Verify == VerifyFull
	if judged {
		paths = append(paths, c.Surroundings.ClassPath...)
	}
	contents, err := hashPaths(ctx, paths, c.Jobs)
	if err != nil {
		return err
	}
	for i := range m.inputs {
		in := &m.inputs[i]
		if contents[i].ok {
			*in = knownInput{content: cache.KeyOf(kindOf(c.Inputs[i].Path), contents[i].key.String()), known: true}
			in.key = m.scanKey(in.content)
		}
	}
	m.around = "none"
	if judged {
		m.around = aroundOf(c.Surroundings, contents[len(m.inputs):])
	}
	if c.Disabled || c.Slice != nil {
		return nil // nothing is scanned
	}
	return m.loadScans()
}

// kindOf tells what becomes of the same bytes under one name and another.
func kindOf(path string) string {
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case ".class":
		return filepath.Base(path) // the name of the only entry
	case ".aar":
		return extension
	}
	return ""
}

// scanKey is that of what a scan of this run finds out in an input of that content.
func (m *incremental) scanKey(content cache.Key) cache.Key {
	c := &m.run.config
	return cache.KeyOf("scan 1", m.Tool, content.String(), m.Rules, fmt.Sprintf("%+v", c.Inject), fmt.Sprint(c.FocusHooks, c.Lines, c.R8 != nil))
}

// loadScans reads what earlier scans found out, all inputs at a time: texts and lists of many classes.
func (m *incremental) loadScans() error {
	if m.Known != nil {
		known := 0
		for _, in := range m.inputs {
			if in.known && m.Cache.Has(in.key) {
				known++
			}
		}
		m.Known(known, len(m.inputs))
	}
	var group errgroup.Group
	group.SetLimit(m.run.config.Jobs)
	failures := make([]error, len(m.inputs))
	for i := range m.inputs {
		in := &m.inputs[i]
		if !in.known {
			continue
		}
		group.Go(func() error {
			data, err := m.Cache.Get(in.key)
			if failures[i] = err; err == nil {
				if in.scan = readScanned(data, i, m.run.config.Inputs[i].Path); in.scan == nil {
					failures[i] = &cache.DamagedError{File: in.key.String(), What: "of another form than this version writes"}
				}
			}
			return nil
		})
	}
	err := group.Wait()
	for _, failure := range failures {
		m.note(failure)
	}
	return err
}

// recall gives an input as an earlier scan saw it, nil if none did.
func (m *incremental) recall(i int) *source {
	if m == nil || m.inputs[i].scan == nil {
		return nil
	}
	r, in := m.run, &m.inputs[i]
	for _, d := range in.scan.duplicates {
		r.warnDuplicate(in.scan.sources[d.source].name, d.entry)
	}
	for _, u := range in.scan.units {
		r.list(u)
	}
	in.lazy = true
	m.recalled++
	return in.scan.sources[0]
}

// recalls says whether what the scan would find out of a unit is known.
func (m *incremental) recalls(u *unit) bool { return m != nil && m.inputs[u.source.input].scan != nil }

// open opens an input after all, because its bytes are needed. Its classes, and what is known of them, stay what they are.
func (m *incremental) open(i int) error {
	if m == nil || !m.inputs[i].lazy {
		return nil
	}
	in, r := &m.inputs[i], m.run
	fresh := &run{config: r.config}
	defer func() { r.opened = append(r.opened, fresh.opened...) }()
	top, err := fresh.openInput(i, r.config.Inputs[i].Path)
	if err != nil {
		return err
	}
	sources := map[string]*source{}
	for _, s := range in.scan.sources {
		sources[s.outer] = s
	}
	same := slices.EqualFunc(in.scan.units, fresh.units, func(a, b *unit) bool {
		return a.source.outer == b.source.outer && a.entry.name == b.entry.name && a.entry.size == b.entry.size
	})
	if !same {
		return m.changed(i)
	}
	for k, u := range in.scan.units {
		u.entry = fresh.units[k].entry
		u.entry.unit = u
	}
	// Whoever holds a source of the input holds it still.
	for k := range top.entries {
		if nested := top.entries[k].nested; nested != nil {
			if known := sources[nested.outer]; known != nil {
				*known = *nested
				top.entries[k].nested = known
			}
		}
	}
	*in.scan.sources[0] = *top
	in.lazy = false
	return nil
}

// openAll opens all inputs.
func (m *incremental) openAll() error {
	if m == nil {
		return nil
	}
	for i := range m.inputs {
		if err := m.open(i); err != nil {
			return err
		}
	}
	return nil
}

func (m *incremental) changed(i int) error {
	return fmt.Errorf("%s: changed while tracegen was running; run it again when nothing else writes it", m.run.config.Inputs[i].Path)
}

// sameInputs makes sure that what was read of the inputs in this run is what they are known by.
func (m *incremental) sameInputs(ctx context.Context) error {
	var paths []string
	var numbers []int
	for i := range m.inputs {
		if in := &m.inputs[i]; in.known && !in.lazy {
			paths, numbers = append(paths, m.run.config.Inputs[i].Path), append(numbers, i)
		}
	}
	again, err := hashPaths(ctx, paths, m.run.config.Jobs)
	if err != nil {
		return err
	}
	for k, i := range numbers {
		if !again[k].ok || cache.KeyOf(kindOf(paths[k]), again[k].key.String()) != m.inputs[i].content {
			return m.changed(i)
		}
	}
	return nil
}

// divide lists the units of each input, when all of them are there.
func (m *incremental) divide() {
	if m == nil {
		return
	}
	m.units = make([][]*unit, len(m.inputs))
	for _, u := range m.run.units {
		m.units[u.source.input] = append(m.units[u.source.input], u)
	}
}

// scanned writes down what this run's scan found out, before anything is decided on top of it. It is kept when the
// inputs prove to be the same still.
func (m *incremental) scanned() error {
	if m == nil {
		return nil
	}
	if m.run.config.Merge != "" { // which looks at all entries, not only at classes
		if err := m.openAll(); err != nil {
			return err
		}
	}
	if !m.keeps() {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(m.run.config.Jobs)
	failures := make([]error, len(m.inputs))
	for i := range m.inputs {
		in := &m.inputs[i]
		if !in.known || in.scan != nil {
			continue
		}
		group.Go(func() error {
			if in.pending, failures[i] = m.Cache.Create(in.key); failures[i] == nil {
				in.pending.Write(packScanned(m.run.sources[i], m.units[i]))
			}
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	for _, err := range failures {
		if err != nil {
			m.fail(err)
		}
	}
	return nil
}

// close gives up what was not kept.
func (m *incremental) close() {
	if m == nil {
		return
	}
	m.giveUp()
	for i := range m.inputs {
		if m.inputs[i].pending != nil {
			m.inputs[i].pending.Abort()
		}
	}
}
