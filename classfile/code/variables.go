package code

import "encoding/binary"

// VariableTable is the rows of a LocalVariableTable or of a LocalVariableTypeTable (JVMS 4.7.13, 4.7.14).
type VariableTable []byte

// Variable is a row of a LocalVariableTable. A row of a LocalVariableTypeTable has the same layout, with a signature in
// place of the descriptor.
type Variable struct {
	Start, Length           int // the range of the code in which the variable has a value
	Name, Descriptor, Index uint16
}

// variableRow is the length of a row in bytes.
const variableRow = 10

// Variables returns the rows of the table with that info; ok is false if it is not as long as its count says.
func Variables(info []byte) (table VariableTable, ok bool) {
	rows, err := entries(info, variableRow)
	return rows, err == nil
}

// Len returns the number of rows.
func (t VariableTable) Len() int { return len(t) / variableRow }

// At returns a row.
func (t VariableTable) At(i int) Variable {
	row := t[i*variableRow : (i+1)*variableRow]
	return Variable{
		Start: int(binary.BigEndian.Uint16(row)), Length: int(binary.BigEndian.Uint16(row[2:])),
		Name:       binary.BigEndian.Uint16(row[4:]),
		Descriptor: binary.BigEndian.Uint16(row[6:]),
		Index:      binary.BigEndian.Uint16(row[8:]),
	}
}
