package corpus_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusDecoders compares how our decoder and jvm.go read every class, original and instrumented, as far as jvm.go
// can: major version 57 and older, and no module-info.
func TestCorpusDecoders(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	compared, refused := 0, 0
	compare := func(name, jar string) {
		for _, f := range classFiles(t, jar) {
			major := binary.BigEndian.Uint16(f.data[6:])
			if major > oracle.JVMGoMaxMajor || strings.HasSuffix(f.name, "module-info.class") {
				continue
			}
			theirs, err := oracle.DecodeJVMGo(f.data)
			if err != nil {
				refused++
				continue
			}
			ours, err := decode(f.data)
			if err != nil {
				t.Errorf("%s!%s: %v", name, f.name, err)
				continue
			}
			compared++
			if diff := cmp.Diff(theirs, ours, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s!%s: jvm.go (-), classfile (+):\n%s", name, f.name, diff)
			}
		}
	}
	for _, j := range jars {
		compare(j.Name, j.Classes)
	}
	for _, m := range instrumentAll(t, buildTool(t), jars, "--exits", "exact", "--trivial", "none") {
		compare(m.Name+" instrumented", m.Classes)
	}
	t.Logf("measured: jvm.go reads %d class files as classfile does, and cannot read %d", compared, refused)
	if compared == 0 || refused*100 > compared {
		t.Error("jvm.go refuses more than one in a hundred")
	}
}

// decode converts what our decoder reads to the common form.
func decode(data []byte) (*oracle.Structure, error) {
	c, err := classfile.Parse(data)
	if err != nil {
		return nil, err
	}
	minor, major := c.Version()
	s := &oracle.Structure{Minor: minor, Major: major, Constants: c.ConstantPool().Len(),
		Access: c.AccessFlags(), Name: c.Name(), Super: c.SuperName(), Interfaces: c.Interfaces(),
		Attributes: attributes(c.Attributes())}
	s.Fields, err = members(c, c.Fields())
	if err != nil {
		return nil, err
	}
	s.Methods, err = members(c, c.Methods())
	return s, err
}

func members(c *classfile.Class, list []classfile.Member) ([]oracle.StructureMember, error) {
	var out []oracle.StructureMember
	var errs []error
	for _, m := range list {
		s := oracle.StructureMember{Access: m.AccessFlags, Name: m.Name, Desc: m.Descriptor,
			Attributes: attributes(m.Attributes)}
		code, ok, err := c.Code(&m)
		errs = append(errs, err)
		if ok {
			s.Code = &oracle.StructureCode{MaxStack: code.MaxStack, MaxLocals: code.MaxLocals,
				Bytes: code.Bytecode, Attributes: attributes(code.Attributes)}
			for e := code.ExceptionTable; len(e) > 0; e = e[8:] {
				s.Code.Handlers = append(s.Code.Handlers, [4]uint16{binary.BigEndian.Uint16(e),
					binary.BigEndian.Uint16(e[2:]), binary.BigEndian.Uint16(e[4:]), binary.BigEndian.Uint16(e[6:])})
			}
		}
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

func attributes(list []classfile.Attribute) []string {
	var out []string
	for _, a := range list {
		if a.Name != "Code" {
			out = append(out, fmt.Sprint(a.Name, " ", len(a.Info)))
		}
	}
	return out
}
