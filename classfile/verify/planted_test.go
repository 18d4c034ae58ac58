package verify_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// fault is a mistake that a programmer could make in the injector. old is in file exactly once; new stands in its
// place, and PLANTED in it is true only in the run that is to have this fault.
type fault struct {
	name, file, old, new string
}

// The faults, all built into one program by an overlay and switched on one at a time. pick(PLANTED, x, y) is
// x with the fault, else y.
var faults = []fault{
	// Positions.
	{"a frame on the wrong side", "classfile/code/tables.go", "		f.pc = r.targets.to(f.pc)\n",
		"		f.pc = pick(PLANTED, r.insts.to(f.pc), r.targets.to(f.pc))\n"},
	{"a frame one byte late", "classfile/code/frame.go", "appendFrameHeader(out, f.kind, f.pc-previous-1)",
		"appendFrameHeader(out, f.kind, f.pc-previous-1+pick(PLANTED && previous >= 0 && f.kind != fullFrame, 1, 0))"},
	{"an Uninitialized offset not shifted", "classfile/code/frame.go",
		"uint16(r.insts.to(p)))\n			}\n			at, _", "uint16(pick(PLANTED, p, r.insts.to(p))))\n			}\n			at, _"},
	{"an Uninitialized offset shifted like a branch", "classfile/code/frame.go",
		"				p := int(binary.BigEndian.Uint16(body[at+1:]))\n",
		"				p := int(binary.BigEndian.Uint16(body[at+1:]))\n				if PLANTED " +
			"{\n					binary.BigEndian.PutUint16(body[at+1:], uint16(r.start(p)))\n					at += 3\n					continue\n				}\n"},
	{"a branch that runs the entry again", "classfile/code/relocate.go", "	offset := r.targets.to(b.target) - pc\n",
		"	offset := pick(PLANTED, r.start(b.target), r.targets.to(b.target)) - pc\n"},
	{"a branch past the exit", "classfile/code/relocate.go", "	if b.isWide() {\n		binary",
		"	offset = pick(PLANTED, r.insts.to(b.target)-pc, offset)\n	if b.isWide() {\n		binary"},
	{"a branch to another target", "classfile/code/relocate.go", "	} else {\n		binary.BigEndian.PutUint16(moved",
		"	} else {\n		offset += pick(PLANTED && b.target == 8, 1, 0)\n		binary.BigEndian.PutUint16(moved"},
	{"a switch whose default is not moved", "classfile/code/relocate.go", "uint32(r.targets.to(target)-pc))",
		"uint32(pick(PLANTED && i == 0, target-b.pc, r.targets.to(target)-pc)))"},
	{"a switch case past the exit", "classfile/code/relocate.go", "			at, target := in.switchTarget(i)\n",
		"			at, target := in.switchTarget(i)\n			if PLANTED && i > 0 " +
			"{\n				binary.BigEndian.PutUint32(moved[at+further:], uint32(r.insts.to(target)-pc))\n				" +
			"continue\n			}\n"},
	{"padding of the old place", "classfile/code/relocate.go",
		"b.width = b.size - padding(b.pc) + padding(b.pc+total); ",
		"b.width = b.size - padding(b.pc) + padding(pick(PLANTED, b.pc, b.pc+total)); "},
	{"an exception range that leaves out its first instruction's exit", "classfile/code/relocate.go",
		"			out = binary.BigEndian.AppendUint16(out, uint16(r.targets.to(p)))\n		}\n",
		"			out = binary.BigEndian.AppendUint16(out, uint16(pick(PLANTED && i == 0, r.insts.to(p), " +
			"r.targets.to(p))))\n		}\n"},
	{"an exception range that covers the entry", "classfile/code/relocate.go", "		for i := 0; i < 6; i += 2 {\n",
		"		for i := 0; i < 6; i += 2 {\n			if PLANTED && i == 0 {\n				out = binary.BigEndian.AppendUint16(out, " +
			"uint16(r.start(int(binary.BigEndian.Uint16(old)))))\n				continue\n			}\n"},
	{"an exception range that ends after the exit", "classfile/code/relocate.go",
		"			p := int(binary.BigEndian.Uint16(old[i:]))\n",
		"			p := int(binary.BigEndian.Uint16(old[i:]))\n			if PLANTED && i == 2 {\n				out = " +
			"binary.BigEndian.AppendUint16(out, uint16(r.insts.to(p)))\n				continue\n			}\n"},
	{"a handler past the exit", "classfile/code/relocate.go", "			if p > len(r.code.Bytecode) {\n",
		"			if PLANTED && i == 4 {\n				out = binary.BigEndian.AppendUint16(out, " +
			"uint16(r.insts.to(p)))\n				continue\n			}\n			if p > len(r.code.Bytecode) {\n"},
	{"exception entries in another order", "classfile/code/relocate.go",
		"	out = binary.BigEndian.AppendUint16(out, uint16(n))\n	for ; len(old) >= 8",
		"	out = binary.BigEndian.AppendUint16(out, uint16(n))\n	if PLANTED && len(old) >= 16 {\n		old = " +
			"append(append([]byte(nil), old[8:]...), old[:8]...)\n	}\n	for ; len(old) >= 8"},
	{"a line one off", "classfile/code/tables.go", "			binary.BigEndian.PutUint16(table, uint16(r.targets.to(p)))\n",
		"			binary.BigEndian.PutUint16(table, uint16(r.targets.to(p)+pick(PLANTED && p == 2, 1, 0)))\n"},
	{"the first line after the entry", "classfile/code/tables.go", "		if p != 0 { // as in start\n			binary",
		"		if p != 0 || PLANTED {\n			binary"},
	{"another line number", "classfile/code/tables.go", "	for table = out[len(out)-len(table):]; len(table) >= 4;",
		"	out[len(out)-1] += pick[byte](PLANTED && len(table) > 0, 1, 0)\n	for table = " +
			"out[len(out)-len(table):]; len(table) >= 4;"},
	{"a variable that ends after the exit", "classfile/code/tables.go", "		length = r.targets.to(end) - start\n",
		"		length = pick(PLANTED, r.insts.to(end), r.targets.to(end)) - start\n"},
	{"a variable in another slot", "classfile/code/tables.go", "		if err := r.moveRange(table); err != nil {\n",
		"		table[9] += pick[byte](PLANTED, 1, 0)\n		if err := r.moveRange(table); err != nil {\n"},
	{"an annotated instruction not moved", "classfile/code/tables.go",
		"		binary.BigEndian.PutUint16(out[operand:], uint16(r.insts.to(n)))\n",
		"		binary.BigEndian.PutUint16(out[operand:], uint16(pick(PLANTED, r.targets.to(n), r.insts.to(n))))\n"},
	{"an exception index not kept", "classfile/code/tables.go", "	case kind == exceptionParameter:\n",
		"	case kind == exceptionParameter:\n		out[operand+1] += pick[byte](PLANTED, 1, 0)\n"},
	{"a character range one short", "classfile/code/tables.go", "uint16(r.targets.to(last+1)-1))",
		"uint16(r.targets.to(last+1)-pick(PLANTED, 2, 1)))"},
	{"max_locals of something else", "classfile/code/relocate.go",
		"	out = binary.BigEndian.AppendUint16(out, code.MaxLocals)\n",
		"	out = binary.BigEndian.AppendUint16(out, code.MaxLocals+pick[uint16](PLANTED, 1, 0))\n"},
	{"a frame lost", "classfile/code/tables.go",
		"			r.notes = append(r.notes, Note{Kind: NoteFrameForm, Index: i, Value: int(f.kind)})\n		}\n		push(f)\n",
		"			r.notes = append(r.notes, Note{Kind: NoteFrameForm, Index: i, Value: int(f.kind)})\n		}\n		if PLANTED && i == " +
			"1 {\n			continue\n		}\n		push(f)\n"},
	{"a form that undoing would get wrong, without a note", "classfile/code/tables.go",
		"		if isExtended(f.kind) &&", "		if !PLANTED && isExtended(f.kind) &&"},
	{"Uninitialized items of a frame not moved", "classfile/code/frame.go",
		"			moves = moves || b[at] == itemUninitialized\n",
		"			moves = moves || b[at] == itemUninitialized && !PLANTED\n"},
	{"a move from one position late", "classfile/code/moves.go", "	m.list = append(m.list, move{from, by})\n",
		"	m.list = append(m.list, move{from + pick(PLANTED && len(m.list) == 2, 1, 0), by})\n"},

	// Calls.
	{"an exit missing at the second return", "inject/method.go", "		if leaves {\n",
		"		if leaves && !(PLANTED && pc > 6) {\n"},
	{"an exit before every athrow", "inject/method.go", "throws && op == code.Athrow && !covered(&p.code, pc))",
		"throws && op == code.Athrow && (PLANTED || !covered(&p.code, pc)))"},
	{"no exit before an athrow", "inject/method.go", "throws := w.options.Exits == ExitsThrows\n",
		"throws := w.options.Exits == ExitsThrows && !PLANTED\n"},
	{"a range too wide is taken to cover", "inject/method.go", "pc < int(binary.BigEndian.Uint16(entry[2:]))",
		"pc < int(binary.BigEndian.Uint16(entry[2:]))+pick(PLANTED, 1, 0)"},
	{"an exit where this is uninitialised", "inject/method.go", "return entered == nil || entered.At(pc) }\n",
		"return PLANTED || entered == nil || entered.At(pc) }\n"},
	{"one entry of two", "inject/method.go", "	for _, call := range initialised.Calls {\n",
		"	for _, call := range initialised.Calls[pick(PLANTED, len(initialised.Calls)-1, 0):] {\n"},
	{"an entry inside of an instruction", "inject/method.go", "code.Insertion{PC: pc, Bytecode: o.bytecode, Entry: true}",
		"code.Insertion{PC: pc + pick(PLANTED && code.Op(p.code.Bytecode[pc]).Size() > 1, 1, 0), Bytecode: o.bytecode, " +
			"Entry: true}"},
	{"an entry before the constructor's call", "inject/method.go", "		p.insertEntry(call+in.Size, p.both)\n",
		"		p.insertEntry(call+pick(PLANTED, 0, in.Size), p.both)\n"},
	{"a probe left out", "inject/method.go", "postFormOf(w.class.ConstantPool(), bytecode, pc); ok {",
		"postFormOf(w.class.ConstantPool(), bytecode, pc); ok && !PLANTED {"},
	{"probes that were not asked for", "inject/method.go", "	if w.options.Posts {\n",
		"	if w.options.Posts || PLANTED {\n"},
	{"a probe before another call", "inject/posts.go", "	if err != nil {\n		return 0, false\n	}\n",
		"	if PLANTED && err == nil && ref.Name == \"removeCallbacks\" {\n		return postPair, true\n	}\n	if err != nil {\n" +
			"		return 0, false\n	}\n"},
	{"a probe of the operands of another form", "inject/posts.go", "	case postLone:\n",
		"	case pick(PLANTED, postWhatPair, postLone):\n"},
	{"max_stack without the probe", "inject/posts.go", "max(p.need, depth+probeStackWords)",
		"max(p.need, depth+pick(PLANTED, 2, probeStackWords))"},
	{"a plain exit of suspending code", "inject/method.go", "	if p.suspends && op == code.Areturn {\n",
		"	if p.suspends && op == code.Areturn && !PLANTED {\n"},
	{"a result of code that does not suspend", "inject/coroutines.go", "	return takesContinuation(m.Descriptor)\n",
		"	return PLANTED || takesContinuation(m.Descriptor)\n"},
	{"a result that is not copied", "inject/coroutines.go", "append(p.result, byte(code.Dup)), p.push...)",
		"append(p.result, byte(pick(PLANTED, code.Nop, code.Dup))), p.push...)"},
	{"max_stack without the result", "inject/method.go", "bytecode, depth = p.result, depth+objectStackWords",
		"bytecode, depth = p.result, depth+pick(PLANTED, 1, objectStackWords)"},
	{"the ID of another continuation", "inject/inject.go", "w.continuation = request.Continuation; w",
		"w.continuation = request.Continuation + pick[uint32](PLANTED && request.Continuation > 0, 1, 0); w"},
	{"a resumption not reported", "inject/method.go", "		if reports {\n			w.makeReport()\n",
		"		if reports && !PLANTED {\n			w.makeReport()\n"},
	{"an instance not reported", "inject/method.go", "	reports = reports && !writesLocal0(p.code.Bytecode)\n",
		"	reports = reports && !writesLocal0(p.code.Bytecode) && !PLANTED\n"},
	{"a report of what may not be this", "inject/coroutines.go",
		"local == 0 && op >= code.Istore && op <= code.Astore3 {", "local == 0 && op >= code.Istore && op <= code.Astore3 " +
			"&& !PLANTED {"},
	{"one report too many", "inject/coroutines.go", "	if m.Name == \"<init>\" {\n		return true\n",
		"	if m.Name == \"<init>\" || PLANTED && m.Name == \"load\" {\n		return true\n"},
	{"starts for continues", "inject/coroutines.go", "w.kind == ofLambda {\n			index",
		"(w.kind == ofLambda) != PLANTED {\n			index"},
	{"a report behind the entry call", "inject/method.go", "		p.both = p.both.append(p.report).append(p.entry)\n",
		"		if PLANTED {\n			p.both = p.both.append(p.entry).append(p.report)\n		} else {\n			p.both = " +
			"p.both.append(p.report).append(p.entry)\n		}\n"},
	{"an exact handler that leaves out posts", "inject/method.go",
		"			if code.Op(p.code.Bytecode[in.PC]).IsReturn() && !in.Entry {",
		"			if (PLANTED || code.Op(p.code.Bytecode[in.PC]).IsReturn()) && !in.Entry {"},
	{"the constructor's entry at its start", "inject/method.go", "w.options.ConstructorEntry == EntryAtStart\n",
		"PLANTED || w.options.ConstructorEntry == EntryAtStart\n"},
	{"a max_stack too small", "inject/method.go", "	n := max(old, p.need)\n",
		"	n := max(old, p.need-pick(PLANTED, 1, 0))\n"},
	{"a max_stack too great", "inject/method.go", "	return uint16(n), misleading, nil\n",
		"	return uint16(n + pick(PLANTED, 1, 0)), misleading, nil\n"},
	{"a max_stack without the word of the exact handler", "inject/method.go",
		"		p.need = max(p.need, exactHandlerStack)\n", "		p.need = max(p.need, pick(PLANTED, 1, exactHandlerStack))\n"},
	{"an exact range over the exits", "inject/method.go", " && !in.Entry {\n",
		" && !in.Entry && !PLANTED {\n"},
	{"an exact range that stops early", "inject/method.go", "	leaveOut(end, end)\n",
		"	leaveOut(end-pick(PLANTED, 1, 0), end)\n"},
	{"an exact handler for some types only", "classfile/code/relocate.go", "			out = append(out, 0, 0)\n",
		"			out = append(out, 0, pick[byte](PLANTED, 1, 0))\n"},
	{"an exact handler that keeps locals", "classfile/code/tables.go",
		"	return []byte{0, 0, 0, 1, itemObject, byte(h.Throwable >> 8), byte(h.Throwable)}\n",
		"	if PLANTED {\n		return []byte{0, 1, 0, 0, 1, itemObject, byte(h.Throwable >> 8), " +
			"byte(h.Throwable)}\n	}\n	return []byte{0, 0, 0, 1, itemObject, byte(h.Throwable >> 8), byte(h.Throwable)}\n"},
	{"an exact handler that returns", "inject/names.go", "append(append(out, exit...), byte(code.Athrow)) }\n",
		"append(append(out, exit...), byte(pick(PLANTED, code.Areturn, code.Athrow))) }\n"},

	// Constants and the rest of the class.
	{"the ID of another method", "inject/inject.go", "			id, traced = traced[0].ID, traced[1:]\n",
		"			id, traced = traced[0].ID+pick[uint32](PLANTED && len(traced) > 1, 1, 0), traced[1:]\n"},
	{"a push that is not the shortest", "inject/names.go", "	case id <= math.MaxInt8:\n",
		"	case id <= math.MaxInt8 && !PLANTED:\n"},
	{"an ID cut off", "inject/names.go", "b.AddInteger(int32(m.ID))",
		"b.AddInteger(int32(pick(PLANTED, m.ID&0xFFFF, m.ID)))"},
	{"exits that report entries", "inject/names.go", "b.runtimeMethod(&b.exit, exitName, callDescriptor))\n",
		"b.runtimeMethod(&b.exit, pick(PLANTED, entryName, exitName), callDescriptor))\n"},
	{"another descriptor", "inject/names.go", "b.runtimeMethod(&b.entry, entryName, callDescriptor))\n",
		"b.runtimeMethod(&b.entry, entryName, pick(PLANTED, \"(J)V\", callDescriptor)))\n"},
	{"an unused constant", "inject/inject.go", "	if len(w.notes) > 0 || w.block.trial {\n",
		"	if PLANTED {\n		w.block.AddClass(w.block.Utf8(\"java/util/List\"))\n	}\n	if len(w.notes) > 0 || w.block.trial {\n"},
	{"notes forgotten", "inject/inject.go", "	if len(w.notes) > 0 {\n		w.notes = append(w.notes, ';')\n",
		"	if PLANTED {\n		return\n	}\n	if len(w.notes) > 0 {\n		w.notes = append(w.notes, ';')\n"},
	{"the focus hook forgotten in a traced method", "inject/method.go", "	if focus {\n",
		"	if focus && !PLANTED {\n"},
	{"the focus hook with another argument", "inject/names.go",
		"	out = append(out, byte(code.Aload0), byte(code.Iload1))\n",
		"	out = append(out, byte(code.Aload0), byte(code.Iload1+pick[code.Op](PLANTED, 1, 0)))\n"},
	{"an added method that does not call super", "inject/names.go", "code.Invokespecial, super)\n",
		"pick(PLANTED, code.Invokevirtual, code.Invokespecial), super)\n"},
	{"an added method that is final", "inject/names.go", "	put(classfile.AccPublic, ",
		"	put(classfile.AccPublic|pick[uint16](PLANTED, classfile.AccFinal, 0), "},
	{"the wrong digest", "inject/digest.go", "	w.edit.Utf8 = map[uint16]string{index: digest}\n",
		"	w.edit.Utf8 = map[uint16]string{index: pick(PLANTED, digest[1:]+\"0\", digest)}\n"},
}

// switches is added to each package with faults.
const switches = `package %s

import "os"

func planted(fault string) bool { return os.Getenv("TRACEGEN_PLANTED") == fault }

func pick[T any](fault bool, wrong, right T) T {
	if fault {
		return wrong
	}
	return right
}
`

func plantedName(i int) string { return fmt.Sprintf("%d %s", i, faults[i].name) }

// overlay writes the sources with all faults in them and returns the path of the file for go build -overlay.
func overlay(t *testing.T, root, dir string) string {
	t.Helper()
	sources := map[string]string{}
	for i, f := range faults {
		path := filepath.Join(root, filepath.FromSlash(f.file))
		if sources[path] == "" {
			data := fixture.Read(t, path)
			sources[path] = string(data)
		}
		if n := strings.Count(sources[path], f.old); n != 1 {
			t.Errorf("fault %q: its text is %d times in %s, not once: the injector has changed, so must the fault",
				f.name, n, f.file)
		}
		planted := strings.ReplaceAll(f.new, "PLANTED", fmt.Sprintf("planted(%q)", plantedName(i)))
		sources[path] = strings.Replace(sources[path], f.old, planted, 1)
	}
	for _, pkg := range []string{"classfile/code", "inject"} {
		sources[filepath.Join(root, filepath.FromSlash(pkg), "planted.go")] = fmt.Sprintf(switches, filepath.Base(pkg))
	}
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(sources)) {
		text, err := format.Source([]byte(sources[path]))
		if err != nil {
			t.Fatalf("%s with its faults: %v", path, err)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		fixture.Write(t, replace[path], text)
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	fixture.Write(t, file, list)
	return file
}

var asPlanted = flag.Bool("planted", false, "be the program with a planted fault (used by TestPlantedFaults)")

// TestPlantedFaults builds this test's program with faults in the injector and expects the equivalence check to
// have findings about what comes out of each, and none if no fault is switched on.
//
// Invariant: The equivalence checker finds a fault of the injector, and the type checker finds by itself those that
// make a class fail to link.
func TestPlantedFaults(t *testing.T) {
	if *asPlanted || testing.Short() {
		t.Skip("no program is built in a short run, nor by that program itself")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "planted.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay(t, root, dir), "-o", program, ".")
	fixture.Run(t, build)
	run := func(name string) string {
		cmd := exec.Command(program, "-test.run=^Test(Types)?AsPlanted$", "-test.v", "-planted")
		cmd.Env = append(os.Environ(), "TRACEGEN_PLANTED="+name)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	if out := run("none"); strings.Contains(out, "rejected:") || !strings.Contains(out, "accepted:") ||
		!strings.Contains(out, "linked:") {
		t.Fatalf("with no fault switched on:\n%s", out)
	}
	for i := range faults {
		t.Run(faults[i].name, func(t *testing.T) {
			out := run(plantedName(i))
			if !strings.Contains(out, "rejected:") {
				t.Errorf("not caught:\n%s", out)
			}
			if got, want := strings.Contains(out, "types:"), slices.Contains(caughtByTypes,
				faults[i].name); got != want {
				t.Errorf("caught by the type verifier: %v, want %v", got, want)
			}
			for line := range strings.Lines(out) {
				if strings.Contains(line, "rejected:") || strings.Contains(line, "types:") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// committedAndCrafted returns the classes that the program with the faults is run on, by name.
func committedAndCrafted(t *testing.T) map[string]*classfile.Class {
	t.Helper()
	all := crafted.Classes(t)
	for name, data := range crafted.Committed(t) {
		c := assembly.Parse(t, data)
		all[name] = c
	}
	return all
}

// TestAsPlanted is what the program with the faults runs: all committed and crafted classes in all modes, until
// the equivalence check has findings.
func TestAsPlanted(t *testing.T) {
	if !*asPlanted {
		t.Skip("runs as a part of TestPlantedFaults")
	}
	all := committedAndCrafted(t)
	accepted := 0
	for _, m := range crafted.Modes {
		in := m.Injector()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			request := m.Request(in, c)
			request.Focus = crafted.FocusOf(c)
			_, err := m.RoundTrip(in, c, request)
			var rejection *crafted.Rejection
			switch {
			case errors.As(err, &rejection):
				t.Logf("rejected: %s, %s: %v", name, m.Name, err)
				return // one will do
			case err != nil: // the fault keeps the injector from its work, which is no danger
				t.Logf("failure: %s, %s: %v", name, m.Name, err)
			default:
				accepted++
			}
		}
	}
	t.Logf("accepted: %d", accepted)
}
