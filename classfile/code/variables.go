package code

import "encoding/binary"

// Variable is a row of a LocalVariableTable (JVMS 4.7.13). A row of a LocalVariableTypeTable (JVMS 4.7.14) has the same
// layout, with a signature in place of the descriptor.
type Variable struct {
	Start, Length           uint16 // the range of the code in which the variable has a value
	Name, Descriptor, Index uint16
}

// variableRow is the length of a row in bytes.
const variableRow = 10

// Variables returns the number of rows of a LocalVariableTable or LocalVariableTypeTable. ok is false if it is not as
// long as its count says.
func Variables(info []byte) (n int, ok bool) {
	_, err := entries(info, variableRow)
	return len(info) / variableRow, err == nil
}

// VariableAt returns row i.
func VariableAt(info []byte, i int) Variable {
	row := info[2+i*variableRow:][:variableRow]
	return Variable{
		Start:      binary.BigEndian.Uint16(row),
		Length:     binary.BigEndian.Uint16(row[2:]),
		Name:       binary.BigEndian.Uint16(row[4:]),
		Descriptor: binary.BigEndian.Uint16(row[6:]),
		Index:      binary.BigEndian.Uint16(row[8:]),
	}
}
