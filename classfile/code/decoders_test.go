package code_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle"
)

// line is an instruction as javap prints it: a position, a mnemonic and its targets, for a switch the default last.
type line struct {
	pc      int
	name    string
	targets []int
}

func (l line) String() string { return fmt.Sprint(l.pc, ": ", l.name, " ", l.targets) }

// lines returns the instructions of a code array in the order of javap -c.
func lines(t *testing.T, bytecode []byte) (all []line) {
	t.Helper()
	for in, err := range code.Instructions(bytecode) {
		if err != nil {
			t.Fatal(err)
		}
		l := line{pc: in.PC, name: in.Op.String(), targets: slices.Collect(in.Targets())}
		switch in.Op {
		case code.Wide:
			l.name = code.Op(in.U1(0)).String() + "_w"
		case code.Jsr, code.JsrW:
			l.targets = nil // newer versions of javap do not print it
		case code.Tableswitch, code.Lookupswitch:
			l.targets = append(l.targets[1:], l.targets[0])
		}
		all = append(all, l)
	}
	return all
}

var (
	javapInstruction = regexp.MustCompile(`^ +(\d+): ([a-z][a-z0-9_]*)(?: +(-?\d+))?`)
	javapCase        = regexp.MustCompile(`^ +(?:-?\d+|default): (\d+)$`)
)

// parseJavap parses the output of javap -c and returns the methods with code, in class file order.
func parseJavap(t *testing.T, out []byte) (methods [][]line) {
	t.Helper()
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 16<<20)
	inSwitch := false
	for scan.Scan() {
		text := scan.Text()
		if text == "    Code:" {
			methods = append(methods, nil)
			continue
		}
		if len(methods) == 0 {
			continue
		}
		current := &methods[len(methods)-1]
		if inSwitch {
			if m := javapCase.FindStringSubmatch(text); m != nil {
				last := &(*current)[len(*current)-1]
				last.targets = append(last.targets, number(t, m[1]))
			}
			inSwitch = strings.TrimSpace(text) != "}"
			continue
		}
		m := javapInstruction.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		l := line{pc: number(t, m[1]), name: m[2]}
		if strings.HasPrefix(l.name, "if") || strings.HasPrefix(l.name, "goto") {
			l.targets = []int{number(t, m[3])}
		}
		inSwitch = l.name == "tableswitch" || l.name == "lookupswitch"
		*current = append(*current, l)
	}
	return methods
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// javap returns the output of javap -c of the newest JDK.
func javap(t *testing.T, args ...string) [][]line {
	t.Helper()
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	out, err := exec.Command(jdks[len(jdks)-1].Tool("javap"), append([]string{"-c", "-p"}, args...)...).Output()
	if err != nil {
		t.Fatalf("javap: %v", err)
	}
	return parseJavap(t, out)
}

// TestJavap checks that the instructions of the classes of testdata are at the positions, of the names and with the
// targets that javap prints.
//
// Invariant: Instructions begin where javap sees them.
func TestJavap(t *testing.T) {
	var ours [][]line
	for _, m := range sampleMethods(t) {
		ours = append(ours, lines(t, m.code.Bytecode))
	}
	compareWithJavap(t, ours, javap(t, sampleFiles(t)...))
}

func compareWithJavap(t *testing.T, ours, theirs [][]line) {
	t.Helper()
	if len(ours) != len(theirs) {
		t.Fatalf("%d methods with code, javap sees %d", len(ours), len(theirs))
	}
	for i := range ours {
		if diff := cmp.Diff(fmt.Sprint(theirs[i]), fmt.Sprint(ours[i])); diff != "" {
			t.Errorf("method %d (-javap +ours):\n%s", i, diff)
		}
	}
}
