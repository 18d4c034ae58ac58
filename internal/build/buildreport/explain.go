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

// Explanation explains the decisions on some methods.
type Explanation struct {
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
	Reason       filter.Reason // why a class was not read; or empty
	Detail       string
	Methods      []ExplainedMethod
}

// ExplainedMethod reports the decision about one method.
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
	CodeBytes        int    // code_length (JVMS 4.7.3)
	Message          string // the rule by which its calls are messages, "" if they are not
}

// mapped returns the entry of the mapping for a method, living or retired.
func (e *Explanation) mapped(m *ExplainedMethod) (mapping.Entry, bool) {
	if e.Mapping == nil {
		return mapping.Entry{}, false
	}
	return e.Mapping.ByIdentity(mapping.Identity{Class: m.Class, Name: m.Name, Descriptor: m.Descriptor})
}

// WriteText writes the explanation for people: several lines per method, and one per class.
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
		fmt.Fprintf(b, "    %s of code%s\n", count(m.CodeBytes, "byte", "bytes"), line)
	}
	if m.Residual != "" {
		fmt.Fprintf(b, "    in the input it is %s\n", m.Residual)
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
