package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// ScanOptions are what the facts depend on, besides the class files.
type ScanOptions struct {
	Filter     *filter.Filter // decides which methods are traced
	Inject     inject.Options // decide which methods have room for their calls; RuntimeClass is the name in the inputs
	FocusHooks bool           // Activities may get focus hooks
	// Renamed says that R8 or ProGuard has renamed the classes, so that each method may turn out to be numbered.
	Renamed bool
	// Lines asks for source files and line numbers.
	Lines bool
	// Complete asks for what decisions need that are made without the class files: sums and calls.
	Complete bool
}

// Scanner scans classes, one at a time; it keeps working memory. Make one for each goroutine.
type Scanner struct {
	options  ScanOptions
	graph    *Graph
	injector *inject.Injector
	parser   classfile.Parser
	prints   code.Fingerprinter

	// Of the class that is scanned:
	methods []Method         // those with code
	bodies  []classfile.Code // of those that may be traced, or are to report instances
	found   []Body           // see Class.Bodies
	// numbered says that all of its methods are mapping.Numbered.
	numbered bool
	outlined []outlined    // see Outlines
	calls    []filter.Call // of these
	numbers  [][2]uint32   // by constant: one more than the numbers of the method and of the class in the graph

	outliner filter.Outliner

	// Names and decisions that many methods have are kept once.
	names     map[string]string
	decisions map[filter.Decision]*filter.Decision
}

// namesKept and decisionsKept bound Scanner.names and Scanner.decisions.
const (
	namesKept     = 1 << 13
	decisionsKept = 1 << 10
)

// NewScanner returns a Scanner. Scanners of one run share the graph.
func NewScanner(o ScanOptions, graph *Graph) *Scanner {
	return &Scanner{options: o, graph: graph, injector: inject.New(o.Inject)}
}

// Unreadable returns the facts about an entry whose bytes cannot be had: it is encrypted, compressed by a method that
// is not supported, or larger than the limit. crc is its CRC-32, as the archive says it.
func (s *Scanner) Unreadable(at *input.Class, crc uint32, err error) *Class {
	// The reason leaves out the entry, so that there is one warning about all classes of which it is true.
	why := "it is larger than 64 MiB"
	if fault := (*zipfile.Error)(nil); errors.As(err, &fault) {
		why = fault.Err.Error()
	}
	return &Class{At: at, Unread: &filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()},
		Warning: " is left as it is: " + why, Sum: s.sum(uint64(crc) << 32)}
}

func (s *Scanner) sum(sum uint64) uint64 {
	if !s.options.Complete {
		return 0
	}
	return sum
}

// ClassSum returns a checksum by which a class is recognized: the CRC-32 of its bytes, which the directory of a zip
// has too, and behind it four bytes of their SHA-256.
func ClassSum(data []byte) uint64 {
	hash := sha256.Sum256(data)
	return uint64(crc32.ChecksumIEEE(data))<<32 | uint64(binary.BigEndian.Uint32(hash[:]))
}

// Scan returns the facts about a class file without the calls of an earlier run. If it cannot be read as a class, they
// say why.
func (s *Scanner) Scan(at *input.Class, data []byte) *Class {
	facts := &Class{At: at}
	if s.options.Complete {
		facts.Sum = ClassSum(data)
	}
	c, err := s.parser.Parse(data)
	if err != nil {
		facts.Unread = &filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
		if errors.Is(err, classfile.ErrVersion) {
			facts.Unread.Reason = filter.ReasonUnsupportedVersion
			facts.Warning = fmt.Sprintf(" is left as it is: %v", err)
		}
		return facts
	}
	foreign := ""
	if original, err := Original(c, s.options.Inject.RuntimeClass); err != nil {
		foreign, facts.Foreign = err.Error(), true
	} else {
		facts.Stripped = original != c
		c = original
	}
	facts.Name = strings.Clone(c.Name())
	facts.Ancestry = inject.AncestryOf(c)
	facts.Ancestry.SuperName = s.keep(facts.Ancestry.SuperName)
	facts.Access = c.AccessFlags()
	if s.options.Filter.NeedsSupertypes() || s.options.Filter.Outlines() {
		for _, name := range c.Interfaces() {
			facts.Interfaces = append(facts.Interfaces, s.keep(name))
		}
	}
	s.scanMethods(facts, c, foreign)
	if s.options.Complete {
		facts.Calls = s.graph.record(c)
	}
	if facts.Name == s.options.Inject.RuntimeClass {
		plain := s.options.Inject
		plain.Coroutines = false
		facts.Runtime = &RuntimeFaults{faultOf(inject.CheckRuntime(c, true, plain)),
			faultOf(inject.CheckRuntime(c, false, plain)), faultOf(inject.CheckRuntime(c, false, s.options.Inject))}
	}
	if inject.IsMappingInfo(c) && foreign == "" {
		err := inject.CheckMappingInfo(c)
		if facts.Stamped = err == nil; err != nil {
			facts.Warning = fmt.Sprintf(": the digest of the mapping has no place: %v", err)
		}
	}
	return facts
}

func faultOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Original returns the class without calls that an earlier run inserted; c itself if it has none. The error is about
// calls that are not ours, or of which only parts are.
func Original(c *classfile.Class, runtimeClass string) (*classfile.Class, error) {
	stripped, removed, err := equivalence.Strip(c, runtimeClass)
	if err != nil || removed == 0 {
		return c, err
	}
	if c, err = classfile.Parse(stripped); err != nil {
		return nil, fmt.Errorf("without the calls of an earlier run, it is no class any more: %w", err)
	}
	return c, nil
}

// keep copies a name out of the class file. Most names and descriptors are those of many methods.
func (s *Scanner) keep(name string) string {
	kept, known := s.names[name]
	if !known {
		if s.names == nil || len(s.names) == namesKept {
			s.names = make(map[string]string, namesKept)
		}
		kept = strings.Clone(name)
		s.names[kept] = kept
	}
	return kept
}

// share returns one pointer for all methods with the same decision, nil for the zero one.
func (s *Scanner) share(d filter.Decision) *filter.Decision {
	if d == (filter.Decision{}) {
		return nil
	}
	shared, known := s.decisions[d]
	if !known {
		if s.decisions == nil || len(s.decisions) == decisionsKept {
			s.decisions = make(map[filter.Decision]*filter.Decision)
		}
		kept := d // d itself would be on the heap each time
		shared = &kept
		s.decisions[d] = shared
	}
	return shared
}

// nameless is the detail about a method that no mapping can name.
const nameless = "the name of the class, or name or descriptor of the method, is empty"

// scanMethods decides about every method with code. foreign, unless empty, describes another tool's calls.
func (s *Scanner) scanMethods(facts *Class, c *classfile.Class, foreign string) {
	forClass := s.options.Filter.ForClass(c)
	facts.Library = forClass.Library()
	if s.options.Filter.NeedsCalls() && !facts.Library {
		facts.Uses = s.uses(c)
	}
	whole, isWhole := forClass.Whole()
	switch {
	case foreign != "" && !isWhole:
		facts.Warning = " is left as it is: " + foreign
	case isWhole && whole.Reason == filter.ReasonUnsupportedVersion:
		facts.Warning = " is left as it is: " + whole.Detail
	}
	facts.Untouched = foreign != "" || isWhole && whole.Reason != filter.ReasonBlocked &&
		whole.Reason != filter.ReasonGenerated
	s.continued(facts, c)
	if s.options.Lines {
		facts.SourceFile = sourceFile(c)
	}
	s.methods, s.bodies, s.found = s.methods[:0], s.bodies[:0], s.found[:0]
	s.outlined, s.calls = s.outlined[:0], s.calls[:0]
	outlines := s.options.Filter.Outlines()
	if outlines {
		s.outliner.Class(c)
	}
	s.numbered = mapping.Numbered(mapping.Identity{Class: facts.Name})
	for i := range c.Methods() {
		m := &c.Methods()[i]
		n := len(s.bodies)
		s.bodies = slices.Grow(s.bodies, 1)
		body := &s.bodies[:n+1][n] // has memory of another class's method
		ok, err := c.ReadCode(m, body)
		if err == nil && !ok {
			facts.Native = facts.Native || m.AccessFlags&classfile.AccNative != 0
			continue
		}
		var d filter.Decision
		switch {
		case isWhole:
			d = whole
		case err != nil:
			d = filter.Decision{Reason: filter.ReasonMalformed, Detail: err.Error()}
		case facts.Name == "" || m.Name == "" || m.Descriptor == "":
			d = filter.Decision{Reason: filter.ReasonMalformed, Detail: nameless}
		default:
			d = facts.continuationDecision(m, forClass.Decide(m, *body))
		}
		if foreign != "" && !isWhole && d.Reason != filter.ReasonBlocked {
			d.Reason, d.Detail = filter.ReasonAlreadyInstrumented, foreign
		}
		s.methods = append(s.methods, Method{
			Name: s.keep(m.Name), Descriptor: s.keep(m.Descriptor), Decision: s.share(d), Index: uint16(i),
			Access: m.AccessFlags,
		})
		if outlines && err == nil {
			if o, ok := s.outliner.Outline(m, body); ok {
				s.outline(len(s.methods)-1, o)
			}
		}
		if d.Traced() || err == nil && facts.reports(m) {
			s.bodies = s.bodies[:n+1]
		}
		if d.Traced() {
			s.candidate(c, m, body)
		}
	}
	s.try(facts, c)
	if len(s.methods) > 0 {
		facts.Methods = slices.Clone(s.methods)
	}
	if len(s.found) > 0 {
		facts.Bodies = slices.Clone(s.found)
	}
	facts.Outlines = s.recordOutlines(c)
}

// uses returns the methods of other classes that a class names.
func (s *Scanner) uses(c *classfile.Class) (used []inject.MethodRef) {
	pool := c.ConstantPool()
	for i := range uint16(pool.Len()) {
		if tag := pool.Tag(i); tag != classfile.TagMethodref && tag != classfile.TagInterfaceMethodref {
			continue
		}
		if ref, err := pool.Ref(i); err == nil && ref.Class != c.Name() {
			used = append(used, inject.MethodRef{Class: s.keep(ref.Class), Name: s.keep(ref.Name),
				Descriptor: s.keep(ref.Descriptor)})
		}
	}
	return used
}

// candidate notes what is needed of the last of the methods, which may be traced.
func (s *Scanner) candidate(c *classfile.Class, m *classfile.Member, body *classfile.Code) {
	last := len(s.methods) - 1
	if s.options.Lines {
		s.methods[last].Line = uint16(FirstLine(*body)) // from a u2
	}
	// What R8 has renamed may be numbered under its original name, which is not known yet.
	if s.options.Renamed || s.numbered || mapping.Numbered(mapping.Identity{Name: m.Name}) {
		s.found = append(s.found, Body{last, s.prints.Fingerprint(c, body)})
	}
}

// try finds out which of the candidates have no room for their calls, unless the limits of a class file are far away,
// and whether the focus hook has any beside those of the others.
func (s *Scanner) try(facts *Class, c *classfile.Class) {
	candidates := candidatesOf(s.methods)
	if len(s.bodies) > 0 && (s.options.Complete || !s.injector.FitsWithoutTrial(c, s.bodies)) {
		refusals := s.injector.Try(c, candidates, inject.FocusNone)
		refusals = slices.DeleteFunc(refusals, func(r inject.Refusal) bool {
			if inject.ReportsContinuation(&c.Methods()[r.Method]) {
				facts.Continued = nil // there is no room for what has to go together
			}
			return !slices.Contains(candidates, r.Method)
		})
		eachRefusal(s.methods, refusals, func(i int, by *filter.Decision) { s.methods[i].Decision = by })
	}
	focus := facts.Ancestry.Focus()
	if !s.options.FocusHooks || facts.Untouched || focus == inject.FocusNone {
		return
	}
	if refusals := s.injector.Try(c, candidatesOf(s.methods), focus); len(refusals) > 0 {
		facts.FocusRefusal = refusals[0].Err.Error()
	}
}

// sourceFile returns the name in the SourceFile attribute (JVMS 4.7.10), "" without one.
func sourceFile(c *classfile.Class) string {
	a, ok := classfile.FindAttribute(c.Attributes(), "SourceFile")
	if !ok || len(a.Info) != 2 {
		return ""
	}
	name, err := c.ConstantPool().Utf8(binary.BigEndian.Uint16(a.Info))
	if err != nil {
		return ""
	}
	return strings.Clone(name)
}

// FirstLine returns the smallest line number of the code's LineNumberTable (JVMS 4.7.12), 0 without one.
func FirstLine(code classfile.Code) int {
	first := 0
	for _, a := range code.Attributes {
		if a.Name != "LineNumberTable" || len(a.Info) < 2 {
			continue
		}
		for table := a.Info[2:]; len(table) >= 4; table = table[4:] {
			if line := int(binary.BigEndian.Uint16(table[2:])); first == 0 || line < first {
				first = line
			}
		}
	}
	return first
}
