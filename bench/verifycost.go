package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// verifyCommand measures the type checker, and parsing and injecting of the same classes:
//
//	go run ./bench verify            the full corpus
//	go run ./bench verify NAME...    some rows
//
// Everything runs in this process, on one thread, in CPU time, a few classes at a time and in turns: parse and inject,
// check, parse and inject, check. The garbage collector's work counts for the step in which it happens.
const verifyCommand = "verify"

const (
	verifyRounds = 3   // turns; the first, in which the class hierarchy is read, is reported separately
	verifyBatch  = 256 // classes that are in memory at once
)

// verifyCost is the cost of one jar.
type verifyCost struct {
	jar                   string
	classes, rejected     int
	bytes                 int64
	inject, check, reread time.Duration // reread is the first check, which reads the class hierarchy
	injectOnce            time.Duration // in the same turn as that
}

// ratio is the value that the target bounds: at most 1.5.
func (c *verifyCost) ratio() float64 { return c.check.Seconds() / max(c.inject.Seconds(), 1e-9) }

func (c *verifyCost) cold() float64 { return c.reread.Seconds() / max(c.injectOnce.Seconds(), 1e-9) }

func (c *verifyCost) add(other verifyCost) {
	c.classes += other.classes
	c.rejected += other.rejected
	c.bytes += other.bytes
	c.inject += other.inject
	c.check += other.check
	c.reread += other.reread
	c.injectOnce += other.injectOnce
}

func verifyMain(args []string) error {
	flags := flag.NewFlagSet(verifyCommand, flag.ContinueOnError)
	results := flags.String("o", today(), "`directory` for verify.tsv")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	corpora, err := corpus.Load()
	if err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		names = corpora.Names(true)
	}
	jars, err := corpora.Fetch(context.Background(), names...)
	if err != nil {
		return err
	}
	jdks, err := oracle.FindJDKs()
	if err != nil {
		return err
	}
	var out strings.Builder
	w := io.MultiWriter(os.Stdout, &out)
	for _, c := range conditions() {
		fmt.Fprintf(w, "# %s\n", c)
	}
	fmt.Fprintln(w, "jar\tclasses\tbytes\trejected\tinject_s\tverify_s\tratio\tratio_cold")
	total := verifyCost{jar: "all"}
	for _, j := range jars {
		c, err := costOf(j, jdks)
		if err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
		c.print(w)
		total.add(c)
	}
	total.print(w)
	return writeFile(filepath.Join(*results, "verify.tsv"), func(w io.Writer) error {
		_, err := io.WriteString(w, out.String())
		return err
	})
}

func (c *verifyCost) print(w io.Writer) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.3f\t%.3f\t%.2f\t%.2f\n", c.jar, c.classes, c.bytes, c.rejected,
		c.inject.Seconds(), c.check.Seconds(), c.ratio(), c.cold())
}

// costOf measures the classes of one jar of which the injector takes a method.
func costOf(j corpus.Jar, jdks []oracle.JDK) (verifyCost, error) {
	cost := verifyCost{jar: j.Name}
	paths := append([]string{j.Classes}, j.DepPaths...)
	for _, jdk := range jdks {
		paths = append(paths, jdk.Home)
	}
	h, err := classpath.Open(paths...)
	if err != nil {
		return cost, err
	}
	defer h.Close()
	a, err := zipfile.Open(j.Classes)
	if err != nil {
		return cost, err
	}
	defer a.Close()
	batch := &costBatch{injector: inject.New(inject.Options{}), checker: &types.Checker{Hierarchy: h}, cost: &cost}
	var codec zipfile.Codec
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if !strings.HasSuffix(e.Name, ".class") {
			continue
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			return cost, err
		}
		if err := batch.add(data); err != nil {
			return cost, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return cost, batch.measure()
}

// costBatch is a few classes, before and after.
type costBatch struct {
	injector *inject.Injector
	checker  *types.Checker
	cost     *verifyCost
	requests []inject.Request
	before   [][]byte
	after    []*classfile.Class
}

func (b *costBatch) add(data []byte) error {
	c, err := classfile.Parse(data)
	if errors.Is(err, classfile.ErrVersion) {
		return nil
	}
	if err != nil {
		return err
	}
	request := traceAll(b.injector, c)
	if len(request.Methods) == 0 {
		return nil
	}
	rewritten, err := b.injector.Rewrite(c, request)
	if err != nil {
		return err
	}
	again, err := classfile.Parse(rewritten)
	if err != nil {
		return err
	}
	b.cost.classes++
	b.cost.bytes += int64(len(data))
	b.requests, b.before, b.after = append(b.requests, request), append(b.before, data), append(b.after, again)
	if len(b.before) < verifyBatch {
		return nil
	}
	return b.measure()
}

// traceAll returns a request for all calls that the injector accepts in a class.
func traceAll(injector *inject.Injector, c *classfile.Class) inject.Request {
	var candidates []int
	for i := range c.Methods() {
		if _, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code"); ok {
			candidates = append(candidates, i)
		}
	}
	refused := map[int]bool{}
	for _, r := range injector.Try(c, candidates, inject.FocusNone) {
		refused[r.Method] = true
	}
	var request inject.Request
	for _, i := range candidates {
		if !refused[i] {
			request.Methods = append(request.Methods, inject.Traced{Method: i, ID: uint32(1 + i*2003%(1<<20-3))})
		}
	}
	return request
}

// measure runs both on the batch in turns, and empties it.
func (b *costBatch) measure() error {
	for round := range verifyRounds {
		start := cpuTime()
		for i, data := range b.before {
			c, err := classfile.Parse(data)
			if err != nil {
				return err
			}
			if _, err := b.injector.Rewrite(c, b.requests[i]); err != nil {
				return err
			}
		}
		injected := cpuTime()
		rejected := 0
		for _, c := range b.after {
			if len(b.checker.Check(c).Findings) > 0 {
				rejected++
			}
		}
		checked := cpuTime()
		if round == 0 {
			b.cost.rejected += rejected
			b.cost.injectOnce += injected - start
			b.cost.reread += checked - injected
			continue
		}
		b.cost.inject += injected - start
		b.cost.check += checked - injected
	}
	b.requests, b.before, b.after = b.requests[:0], b.before[:0], b.after[:0]
	return nil
}
