package code

import (
	"encoding/binary"
	"iter"
)

// Variable is a row of a LocalVariableTable (JVMS 4.7.13). A row of a LocalVariableTypeTable (JVMS 4.7.14) has the same
// layout, with a signature in place of the descriptor.
type Variable struct {
	Start, Length           int // the range of the code in which the variable has a value
	Name, Descriptor, Index uint16
}

// variableRow is the length of a row in bytes.
const variableRow = 10

// FitVariables reports whether a LocalVariableTable or LocalVariableTypeTable is as long as its count says.
func FitVariables(info []byte) bool {
	_, err := entries(info, variableRow)
	return err == nil
}

// Variables yields the rows of a LocalVariableTable or LocalVariableTypeTable, whatever its count says.
func Variables(info []byte) iter.Seq[Variable] {
	return func(yield func(Variable) bool) {
		for at := 2; at+variableRow <= len(info); at += variableRow {
			row := info[at : at+variableRow]
			v := Variable{
				Start: int(binary.BigEndian.Uint16(row)), Length: int(binary.BigEndian.Uint16(row[2:])),
				Name:       binary.BigEndian.Uint16(row[4:]),
				Descriptor: binary.BigEndian.Uint16(row[6:]),
				Index:      binary.BigEndian.Uint16(row[8:]),
			}
			if !yield(v) {
				return
			}
		}
	}
}
