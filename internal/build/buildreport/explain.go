package buildreport

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// Explanation explains the decisions on some methods; see the package comment for its JSON form.
type Explanation struct {
	// Version is the version of tracegen.
	Version string
	// Mapping is the mapping whose IDs are shown, or nil; MappingFile is its name.
	Mapping     *mapping.Mapping
	MappingFile string
	// Classes are the classes with these methods, in order.
	Classes []ExplainedClass
}

// ExplainedClass reports the decisions about those methods of one class that are asked for.
type ExplainedClass struct {
	Input, Entry string        // where the class is
	Class        string        // in internal form; of one that could not be read, the name of its entry
	Residual     string        // the name that it has in the input, if that is another
	Reason       filter.Reason // why a class was not read; or empty
	Detail       string
	Calls        int // that the class gets
	Bytes        int // that it grows by
	Shared       int // of these, what no method has for itself
	Methods      []ExplainedMethod
}

// ExplainedMethod reports the decision about one method, and the cost of its calls.
type ExplainedMethod struct {
	Class            string // in internal form; merging classes can make it another than that of the ExplainedClass
	Name, Descriptor string // raw, as in a constant pool
	Residual         string // what it is called in the input, in text form, if that is something else
	Access           uint16 // access_flags (JVMS 4.6)
	Code             bool   // it has code
	ID               uint32 // 0 unless it is traced
	Reason           filter.Reason
	Detail           string // of the reason, or the rule by which it is traced
	Line             int    // the lowest line_number, 0 if unknown
	Instructions     int
	Invocations      int    // instructions that call
	CodeBytes        int    // code_length (JVMS 4.7.3)
	Calls            int    // that it gets
	Bytes            int    // that it grows by
	Message          string // the rule by which its calls are messages, "" if they are not
}

// explanationPart and those below are the JSON form.
type explanationPart struct {
	Schema  int             `json:"schema"`
	Version string          `json:"version"`
	Mapping *mappedPart     `json:"mapping,omitempty"`
	Classes []explainedPart `json:"classes"`
}

type mappedPart struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
}

type explainedPart struct {
	Class       string          `json:"class"`
	Residual    string          `json:"residual,omitempty"`
	Input       string          `json:"input"`
	Entry       string          `json:"entry"`
	Reason      filter.Reason   `json:"reason,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	Calls       int             `json:"calls"`
	AddedBytes  int             `json:"addedBytes"`
	SharedBytes int             `json:"sharedBytes"`
	Methods     []explainedCode `json:"methods"`
}

type explainedCode struct {
	Class        string        `json:"class"`
	Method       string        `json:"method"`
	Descriptor   string        `json:"descriptor"`
	Residual     string        `json:"residual,omitempty"`
	Access       uint16        `json:"access"`
	HasCode      bool          `json:"hasCode"`
	Traced       bool          `json:"traced"`
	ID           uint32        `json:"id,omitempty"`
	MappingID    uint32        `json:"mappingId,omitempty"`
	Retired      bool          `json:"retired,omitempty"`
	Reason       filter.Reason `json:"reason,omitempty"`
	Detail       string        `json:"detail,omitempty"`
	Line         int           `json:"line,omitempty"`
	Instructions int           `json:"instructions"`
	Invocations  int           `json:"invocations"`
	CodeBytes    int           `json:"codeBytes"`
	Calls        int           `json:"calls"`
	AddedBytes   int           `json:"addedBytes"`
	Message      string        `json:"message,omitempty"`
}

// mapped returns the entry of the mapping for a method, living or retired.
func (e *Explanation) mapped(m *ExplainedMethod) (mapping.Entry, bool) {
	if e.Mapping == nil {
		return mapping.Entry{}, false
	}
	return e.Mapping.ByIdentity(mapping.Identity{Class: m.Class, Name: m.Name, Descriptor: m.Descriptor})
}

// WriteJSON writes the explanation for programs.
func (e *Explanation) WriteJSON(w io.Writer) error {
	d := explanationPart{Schema: schema, Version: e.Version, Classes: []explainedPart{}}
	if e.Mapping != nil {
		d.Mapping = &mappedPart{e.MappingFile, e.Mapping.Digest()}
	}
	for _, c := range e.Classes {
		part := explainedPart{
			Class: mapping.Text(c.Class), Residual: mapping.Text(c.Residual), Input: c.Input, Entry: c.Entry,
			Reason: c.Reason, Detail: console.Printable(c.Detail),
			Calls: c.Calls, AddedBytes: c.Bytes, SharedBytes: c.Shared, Methods: []explainedCode{},
		}
		for i := range c.Methods {
			m := &c.Methods[i]
			entry, _ := e.mapped(m)
			part.Methods = append(part.Methods, explainedCode{
				Class: mapping.Text(m.Class), Method: mapping.Text(m.Name), Descriptor: mapping.Text(m.Descriptor),
				Residual: m.Residual, Access: m.Access, HasCode: m.Code, Traced: m.ID != 0, ID: m.ID,
				MappingID: entry.ID, Retired: entry.Retired, Reason: m.Reason, Detail: console.Printable(m.Detail),
				Line:         m.Line,
				Instructions: m.Instructions, Invocations: m.Invocations, CodeBytes: m.CodeBytes, Calls: m.Calls,
				AddedBytes: m.Bytes, Message: console.Printable(m.Message),
			})
		}
		d.Classes = append(d.Classes, part)
	}
	return encode(w, d)
}

// WriteText writes the explanation for people: several lines per method, and one or two per class.
func (e *Explanation) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range e.Classes {
		c := &e.Classes[i]
		place := console.Printable(c.Input)
		if c.Entry != "" {
			place += "!" + console.Printable(c.Entry)
		}
		if c.Reason != "" {
			fmt.Fprintf(b, "%s in %s\n    not traced: %s\n", mapping.Text(c.Class), place, because(c.Reason, c.Detail))
			continue
		}
		traced, code := 0, 0
		for j := range c.Methods {
			m := &c.Methods[j]
			fmt.Fprintf(b, "%s %s %s\n", mapping.Text(m.Class), mapping.Text(m.Name), mapping.Text(m.Descriptor))
			e.writeMethod(b, m)
			if m.Code {
				code++
			}
			if m.ID != 0 {
				traced++
			}
		}
		fmt.Fprintf(b, "%s in %s: %d of %s traced\n", mapping.Text(c.Class), place, traced,
			count(code, "selected method with code", "selected methods with code"))
		if c.Bytes != 0 {
			fmt.Fprintf(b, "    the class gets %s and grows by %s, of which its methods share %d\n",
				count(c.Calls, "call of the runtime", "calls of the runtime"), count(c.Bytes, "byte",
					"bytes"), c.Shared)
		}
	}
	return b.Flush()
}

func (e *Explanation) writeMethod(b *bufio.Writer, m *ExplainedMethod) {
	const access = classfile.AccAbstract | classfile.AccNative
	switch {
	case m.ID != 0 && e.Mapping == nil:
		fmt.Fprintf(b, "    traced, ID %d\n", m.ID)
	case m.ID != 0:
		b.WriteString("    traced\n")
	case !m.Code && m.Access&access == classfile.AccNative:
		b.WriteString("    not traced: it is native\n")
	case !m.Code && m.Access&access == classfile.AccAbstract:
		b.WriteString("    not traced: it is abstract\n")
	case !m.Code:
		b.WriteString("    not traced: it has no code\n")
	default:
		fmt.Fprintf(b, "    not traced: %s\n", because(m.Reason, m.Detail))
	}
	e.writeMapped(b, m)
	if m.ID != 0 && m.Detail != "" {
		fmt.Fprintf(b, "    by %s\n", console.Printable(m.Detail))
	} else if m.ID != 0 {
		b.WriteString("    no rule blocks it\n")
	}
	if m.Message != "" {
		fmt.Fprintf(b, "    its calls are messages by %s\n", console.Printable(m.Message))
	}
	if m.Code {
		line := ""
		if m.Line > 0 {
			line = fmt.Sprintf("; line %d", m.Line)
		}
		calls := "no call"
		if m.Invocations > 0 {
			calls = fmt.Sprintf("%d of them calls", m.Invocations)
		}
		fmt.Fprintf(b, "    %s, %s, %s of code%s\n", count(m.Instructions, "instruction", "instructions"), calls,
			count(m.CodeBytes, "byte", "bytes"), line)
	}
	if m.Residual != "" {
		fmt.Fprintf(b, "    in the input it is %s\n", m.Residual)
	}
	if m.ID != 0 {
		fmt.Fprintf(b, "    gets %s and grows by %s\n", count(m.Calls, "call of the runtime", "calls of the runtime"),
			count(m.Bytes, "byte", "bytes"))
	}
}

// writeMapped writes the entry of the mapping for the method.
func (e *Explanation) writeMapped(b *bufio.Writer, m *ExplainedMethod) {
	entry, ok := e.mapped(m)
	file := console.Printable(e.MappingFile)
	switch {
	case e.Mapping == nil || !ok && m.ID == 0:
	case !ok:
		fmt.Fprintf(b, "    %s does not have it: the mapping is of other inputs, rules or options\n", file)
	case entry.Retired:
		fmt.Fprintf(b, "    in %s its ID %d is retired\n", file, entry.ID)
	case m.ID == 0:
		fmt.Fprintf(b, "    but %s has it with ID %d: the mapping is of other inputs, rules or options\n", file,
			entry.ID)
	default:
		fmt.Fprintf(b, "    in %s it has ID %d\n", file, entry.ID)
	}
}

// because returns a reason with its detail.
func because(reason filter.Reason, detail string) string {
	if detail == "" {
		return string(reason)
	}
	return string(reason) + ": " + console.Printable(detail)
}
