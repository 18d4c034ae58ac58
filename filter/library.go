package filter

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Scope says how much of the libraries of a program is traced. The classes of the program itself are traced in every
// scope, as rules and the trivial mode decide.
type Scope uint8

const (
	// ScopeAll treats libraries as the program itself.
	ScopeAll Scope = iota
	// ScopeOwnAndLibraries traces of a library the methods that can take long by themselves: those that have a loop, take
	// a lock, or call what waits, loads or parses, unless they are of a family in lists/families.tsv. It also
	// traces the methods that the program itself calls.
	ScopeOwnAndLibraries
	// ScopeOwn traces no method of a library.
	ScopeOwn
)

// scopes are the names of the scopes.
var scopes = [...]string{ScopeAll: "all", ScopeOwnAndLibraries: "own-and-libraries", ScopeOwn: "own"}

// String returns the name of the scope: all, own-and-libraries or own.
func (s Scope) String() string {
	if int(s) < len(scopes) {
		return scopes[s]
	}
	return fmt.Sprintf("scope %d", uint8(s))
}

// The lists about libraries have a pattern and a reason in each line. The command "go run ./bench libraries" shows what
// each line decides, from class files and from a recording.
var (
	//go:embed lists/families.tsv
	familyList string
	//go:embed lists/waits.tsv
	waitList string
)

// The details of the reason library, but for those of families.
const (
	outOfScope  = "scope own: the class is of a library"
	cannotStall = "of a library: no loop, no lock, no call that waits, loads or parses, and the program does not call it"
)

// maxEntry is the greatest number of instructions of a method of a library that is not traced although the program
// calls it, as it cannot stall. R8 and ART inline such a method, but for the calls of the runtime; what it calls is
// traced if that can stall.
const maxEntry = 10

// suspends is how the descriptor of a suspend function ends. However small it is, its callers are suspended with it.
const suspends = "Lkotlin/coroutines/Continuation;)Ljava/lang/Object;"

// smallEntry is the detail of the reason library of such a method.
var smallEntry = fmt.Sprintf("of a library: no loop, no lock, no call that waits, loads or parses, and at most %d "+
	"instructions", maxEntry)

// lists decide about the methods of libraries.
type lists struct {
	scope     Scope
	libraries map[string]bool
	families  []listRow
	waits     map[string][]listRow // by the package of the class that a pattern names
}

// listRow is a line of one of the lists.
type listRow struct {
	pattern pattern
	not     bool   // what it matches does not wait, whatever later lines match
	detail  string // of the reason library: the pattern and why
}

func newLists(o Options) *lists {
	p := &lists{scope: o.Scope, libraries: o.Libraries}
	if o.Scope != ScopeOwnAndLibraries && o.Profile == nil {
		return p
	}
	p.families = parseList(familyList)
	p.waits = make(map[string][]listRow)
	for _, row := range parseList(waitList) {
		of := packageName(row.pattern.class.glob)
		p.waits[of] = append(p.waits[of], row)
	}
	return p
}

// parseList reads lines of a pattern, which may have a ! before it, a tab and a reason. Lines that begin with # are
// comments. The lists are a part of the program, and TestLists reads them: a line that cannot be read matches nothing.
func parseList(text string) (rows []listRow) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		written, reason, _ := strings.Cut(strings.TrimSpace(line), "\t")
		written, not := strings.CutPrefix(written, "!")
		if p, err := parsePattern(written); err == nil {
			rows = append(rows, listRow{p, not, "of the family " + written + ": " + reason})
		}
	}
	return rows
}

// packageName returns the package of a class in internal form.
func packageName(class string) string { return class[:max(0, strings.LastIndexByte(class, '/'))] }

// NeedsCalls reports whether decisions depend on which methods the classes of the program itself call.
func (f *Filter) NeedsCalls() bool { return f.lists.scope == ScopeOwnAndLibraries }

// family returns the detail of the family that a class belongs to, "" if there is none.
func (p *lists) family(class string) string {
	for i := range p.families {
		row := &p.families[i]
		if row.pattern.method == nil && strings.HasPrefix(class, row.pattern.class.head) && row.pattern.class.match(class) {
			return row.detail
		}
	}
	return ""
}

// familyOfMethod returns the detail of the family that a method belongs to, whatever the family of its class is, "" if
// there is none.
func (p *lists) familyOfMethod(class, name, descriptor string) string {
	for i := range p.families {
		of := &p.families[i].pattern
		if of.method != nil && of.method.match(name, descriptor) && of.class.match(class) {
			return p.families[i].detail
		}
	}
	return ""
}

// waitsIn reports whether a call of this method waits, loads or parses.
func (p *lists) waitsIn(class, name, descriptor string) bool {
	// The constructor of an exception does not read, though the exception stands beside the classes that do.
	if strings.HasSuffix(class, "Exception") || strings.HasSuffix(class, "Error") {
		return false
	}
	for i, rows := 0, p.waits[packageName(class)]; i < len(rows); i++ {
		of := &rows[i].pattern
		if of.class.match(class) && (of.method == nil || of.method.match(name, descriptor)) {
			return !rows[i].not
		}
	}
	return false
}

// decideLibrary returns the decision about a method of a library for which d was decided as if it were the program's.
func (cf *ClassFilter) decideLibrary(m *classfile.Member, c *classfile.Code, d Decision) Decision {
	detail, err := cf.libraryDetail(m, c)
	switch {
	case err != nil:
		return Decision{Reason: ReasonMalformed, Detail: err.Error()}
	case detail == "":
		return d
	case d.Pending == "" && detail != cannotStall:
		return Decision{Reason: ReasonLibrary, Detail: detail}
	}
	d.Pending = d.Pending.orLibrary(detail)
	return d
}

// libraryDetail returns the detail of the reason library about a method that is traced otherwise, "" if it stays so.
func (cf *ClassFilter) libraryDetail(m *classfile.Member, c *classfile.Code) (string, error) {
	switch p := cf.filter.lists; {
	case !cf.library || p.scope == ScopeAll:
		return "", nil
	case p.scope == ScopeOwn:
		return outOfScope, nil
	case cf.family != "":
		return cf.family, nil
	}
	if family := cf.filter.lists.familyOfMethod(cf.name, m.Name, m.Descriptor); family != "" {
		return family, nil
	}
	can, err := cf.canStall(m, c)
	if can || err != nil {
		return "", err
	}
	if isSmall(c) && !strings.HasSuffix(m.Descriptor, suspends) {
		return smallEntry, nil
	}
	return cannotStall, nil
}

// isSmall reports whether code that can be decoded has at most maxEntry instructions.
func isSmall(c *classfile.Code) bool {
	n := 0
	for range code.Instructions(c.Bytecode) {
		if n++; n > maxEntry {
			return false
		}
	}
	return true
}

// canStall reports whether a method can take long by itself, whatever the traced methods take that it calls: it has a
// loop, takes a lock, or calls what waits, loads or parses.
func (cf *ClassFilter) canStall(m *classfile.Member, c *classfile.Code) (bool, error) {
	if m.AccessFlags&classfile.AccSynchronized != 0 {
		return true, nil
	}
	for in, err := range code.Instructions(c.Bytecode) {
		if err != nil {
			return false, err
		}
		switch in.Op {
		case code.Monitorenter, code.Jsr, code.JsrW: // a ret may jump back
			return true, nil
		case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface:
			if cf.callStalls(in) {
				return true, nil
			}
		case code.Tableswitch, code.Lookupswitch:
			for target := range in.Targets() {
				if target <= in.PC {
					return true, nil
				}
			}
		default:
			if target, branches := in.Branch(); branches && target <= in.PC {
				return true, nil
			}
		}
	}
	return false, nil
}

// callStalls reports whether a call can take long in code that is not traced: that of the platform, or a native method
// of the same class.
func (cf *ClassFilter) callStalls(call code.Instruction) bool {
	ref, err := cf.class.ConstantPool().Ref(call.Constant())
	if err != nil {
		return false
	}
	if ref.Class == cf.class.Name() {
		flags, ok := cf.flagsOf(ref.Name, ref.Descriptor)
		return ok && flags&classfile.AccNative != 0
	}
	return cf.filter.lists.waitsIn(ref.Class, ref.Name, ref.Descriptor)
}
