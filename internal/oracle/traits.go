package oracle

import (
	"context"
	"fmt"
	"strings"
)

// ClassTraits are the properties of a class, found by ASM, that rules can have conditions on.
type ClassTraits struct {
	// Job is the job's ID, Entry the class file's name in the jar, Class its internal name.
	Job, Entry, Class string
	// Access holds the access flags, of the JVMS and of ASM.
	Access int
	// Supers are the superclass and the interfaces, Annotations the types of the annotations, in the
	// internal form.
	Supers, Annotations []string
	// Methods are those with code, in the order of the class file.
	Methods []MethodTraits
}

// MethodTraits is the same for a method with code.
type MethodTraits struct {
	// Name and Desc are in the internal form.
	Name, Desc string
	// Access holds the access flags, of the JVMS and of ASM.
	Access int
	// Annotations are the types of the annotations, in the internal form.
	Annotations []string
	// Instructions is the number of instructions.
	Instructions int
	// Loop reports whether a branch leads to itself or back.
	Loop bool
}

// Traits reads every class of the jars with ASM, in the order of the jobs and jars. It does not use the jobs'
// dependencies.
func Traits(ctx context.Context, jobs []LinkJob) ([]ClassTraits, error) {
	j, err := FindJDK(11)
	if err != nil {
		return nil, err
	}
	jars, err := asmJars(ctx)
	if err != nil {
		return nil, err
	}
	main, err := tool{name: "asm", release: 11, path: jars}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	args := []string{"-Xmx1g", "-cp", classPath(append(jars, main)...), "dev.tracegen.oracle.Traits"}
	var classes []ClassTraits
	err = batch(ctx, j, args, jobs, nil, func(r []string) (bad error) {
		list := func(s string) []string {
			return strings.FieldsFunc(s, func(c rune) bool { return c == ',' })
		}
		switch {
		case r[0] == "C" && len(r) == 7:
			classes = append(classes, ClassTraits{Job: r[1], Entry: r[2], Class: r[3],
				Access: number(r[4], &bad), Supers: list(r[5]), Annotations: list(r[6])})
		case r[0] == "M" && len(r) == 10 && len(classes) > 0:
			c := &classes[len(classes)-1]
			c.Methods = append(c.Methods, MethodTraits{Name: r[4], Desc: r[5], Access: number(r[6], &bad),
				Annotations: list(r[7]), Instructions: number(r[8], &bad), Loop: r[9] == "1"})
		default:
			bad = fmt.Errorf("%d columns", len(r))
		}
		return bad
	})
	if err != nil {
		return nil, fmt.Errorf("traits: %w", err)
	}
	return classes, nil
}
