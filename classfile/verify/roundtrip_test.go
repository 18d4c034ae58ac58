package verify_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/expect"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// mode is one way to instrument, told to the injector and to the referee.
type mode struct {
	name    string
	exits   inject.ExitMode
	entry   inject.ConstructorEntry
	runtime string
	id      func(method int) uint32
}

// An ID's encoding depends on its size: modes differ in that too, and one mixes all in each class.
var modes = []mode{
	{"normal", inject.ExitsNormal, inject.EntryAtStart, inject.DefaultRuntimeClass, func(m int) uint32 { return uint32(m + 1) }},
	{"throws", inject.ExitsThrows, inject.EntryAtStart, inject.DefaultRuntimeClass, mixedID},
	{"after-super", inject.ExitsThrows, inject.EntryAfterSuper, inject.MatrixRuntimeClass, func(m int) uint32 { return uint32(120 + m) }},
	{"exact", inject.ExitsExact, inject.EntryAfterSuper, inject.DefaultRuntimeClass, func(m int) uint32 { return uint32(1048573 - m) }},
}

func mixedID(m int) uint32 {
	sizes := [...]uint32{1, 5, 6, 127, 128, 32767, 32768, 1048573}
	return sizes[m%len(sizes)]
}

// wanted says what the equivalence check must find.
func (m mode) wanted(r inject.Request) equivalence.Instrumentation {
	return expect.Instrumentation(m.options(), r)
}

func (m mode) options() inject.Options {
	return inject.Options{RuntimeClass: m.runtime, Exits: m.exits, ConstructorEntry: m.entry}
}

// request asks for all that the injector takes of the class, but for calls in the runtime's own.
func (m mode) request(in *inject.Injector, c *classfile.Class) inject.Request {
	if inject.IsMappingInfo(c) {
		return inject.Request{Digest: "0123456789abcdef"}
	}
	var candidates []int
	for i := range c.Methods() {
		if _, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code"); ok {
			candidates = append(candidates, i)
		}
	}
	refused := make(map[int]bool)
	for _, r := range in.Try(c, candidates, inject.FocusNone) {
		refused[r.Method] = true
	}
	var request inject.Request
	for _, i := range candidates {
		if !refused[i] {
			request.Methods = append(request.Methods, inject.Traced{Method: i, ID: m.id(i)})
		}
	}
	return request
}

var errInject = errors.New("the injector refuses")

// objection is the error of a class that the referee objects to.
type objection struct{ findings []verify.Finding }

func (o *objection) Error() string {
	return fmt.Sprintf("%d findings, the first: %v", len(o.findings), o.findings[0])
}

func (m mode) injector() *inject.Injector {
	return inject.New(m.options())
}

// roundTrip instruments the class, puts it to the referee and strips it. It gives how many methods were
// traced.
func (m mode) roundTrip(in *inject.Injector, c *classfile.Class, request inject.Request) (traced int, err error) {
	if len(request.Methods) == 0 && request.Focus == inject.FocusNone && request.Digest == "" {
		return 0, nil
	}
	out, err := in.Rewrite(c, request)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errInject, err)
	}
	rewritten, err := classfile.Parse(out)
	if err != nil {
		return 0, fmt.Errorf("parse: %w", err)
	}
	if findings := equivalence.Check(c, rewritten, m.wanted(request)); len(findings) > 0 {
		return 0, &objection{findings}
	}
	stripped, removed, err := equivalence.Strip(rewritten, m.runtime)
	if err != nil {
		return 0, fmt.Errorf("strip: %w", err)
	}
	if removed == 0 || !bytes.Equal(stripped, c.Bytes()) {
		return 0, fmt.Errorf("strip took out %d calls and gave other bytes than there were", removed)
	}
	return len(request.Methods), nil
}

func TestRoundTrip(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			in, traced := m.injector(), 0
			for name, data := range classes(t) {
				c, err := classfile.Parse(data)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				n, err := m.roundTrip(in, c, m.request(in, c))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				traced += n
			}
			if traced < 70 {
				t.Errorf("only %d methods traced", traced)
			}
		})
	}
}

// classes reads the committed classes.
func classes(t testing.TB) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	root := filepath.Join("..", "..", "testdata", "classes", "bin")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".class") {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no classes below %s", root)
	}
	return found
}

// jarClasses calls do with every class of a jar that parses.
func jarClasses(path string, do func(name string, c *classfile.Class)) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".class") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return err
		}
		if c, err := classfile.Parse(data); err == nil {
			do(f.Name, c)
		}
	}
	return nil
}

// TestCorpusRoundTrip puts every method that the injector takes, of every class of released jars, to the
// referee, in all modes.
func TestCorpusRoundTrip(t *testing.T) {
	share := os.Getenv("TRACEGEN_CORPUS")
	if share == "off" || testing.Short() {
		t.Skip("the corpus is not wanted")
	}
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), c.Names(share == "full")...)
	oracle.Require(t, err)
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			in, classes, traced := m.injector(), 0, 0
			for _, jar := range jars {
				err := jarClasses(jar.Classes, func(name string, c *classfile.Class) {
					n, err := m.roundTrip(in, c, m.request(in, c))
					if err != nil {
						t.Errorf("%s!%s: %v", jar.Name, name, err)
					}
					classes++
					traced += n
				})
				if err != nil {
					t.Errorf("%s: %v", jar.Name, err)
				}
			}
			t.Logf("measured: %s: %d jars, %d classes, %d methods traced, equivalent and stripped to what they were", m.name, len(jars), classes, traced)
		})
	}
}

func TestRoundTripCrafted(t *testing.T) {
	for name, c := range crafted(t) {
		for _, m := range modes {
			t.Run(name+" "+m.name, func(t *testing.T) {
				in := m.injector()
				request := m.request(in, c)
				if request.Digest == "" && len(request.Methods) != len(c.Methods()) {
					t.Errorf("%d of %d methods are refused", len(c.Methods())-len(request.Methods), len(c.Methods()))
				}
				request.Focus = focusOf(c)
				if _, err := m.roundTrip(in, c, request); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestCraftedIsWidened: the crafted classes would prove nothing if their branches still reached their targets.
func TestCraftedIsWidened(t *testing.T) {
	all := crafted(t)
	for name, want := range map[string]int{"far branches": 3, "far branches, wide": 3, "far types": 5, "subroutines": 2} {
		for _, m := range modes {
			data, _, _ := instrument(t, m, all[name])
			c, err := classfile.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			wide := 0
			for i := range c.Methods() {
				body, _, err := c.Code(&c.Methods()[i])
				if err != nil {
					t.Fatal(err)
				}
				for in := range code.Instructions(body.Bytecode) {
					if in.Op == code.GotoW || in.Op == code.JsrW {
						wide++
					}
				}
			}
			if wide < want {
				t.Errorf("%s, %s: %d wide branches, want %d", name, m.name, wide, want)
			}
		}
	}
}
