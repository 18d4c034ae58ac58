package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// accSynthetic marks a requires that is not declared in the source (JVMS 4.7.25). By it strip recognises the one
// that tracegen has added.
const accSynthetic = 0x1000

// AddRequires returns the class file of the module-info c with `requires module` added as its last dependence, so
// that the code of c's module may call a runtime class in the other module. If c is that module itself, or requires
// it already, the result is c unchanged. AddRequires fails if c has no Module attribute (JVMS 4.7.25), or a
// malformed one.
func AddRequires(c *classfile.Class, module string) ([]byte, error) {
	index := slices.IndexFunc(c.Attributes(), func(a classfile.Attribute) bool { return a.Name == "Module" })
	if index < 0 {
		return nil, fmt.Errorf("class %s has no Module attribute", c.Name())
	}
	pool, info := c.ConstantPool(), c.Attributes()[index].Info
	const countAt, size = 6, 6
	if len(info) < countAt+2 || len(info)-countAt-2 < size*int(binary.BigEndian.Uint16(info[countAt:])) {
		return nil, fmt.Errorf("class %s: Module attribute ends in its requires", c.Name())
	}
	count := int(binary.BigEndian.Uint16(info[countAt:]))
	end := countAt + 2 + size*count
	names := []uint16{binary.BigEndian.Uint16(info)}
	for at := countAt + 2; at < end; at += size {
		names = append(names, binary.BigEndian.Uint16(info[at:]))
	}
	for _, name := range names {
		known, err := pool.NamedBy(name, classfile.TagModule)
		if err != nil {
			return nil, fmt.Errorf("class %s: Module attribute: %w", c.Name(), err)
		}
		if known == module {
			return c.Bytes(), nil
		}
	}
	if count == math.MaxUint16 {
		return nil, errors.New("a module cannot require more than 65,535 others")
	}
	added := classfile.NewPoolBuilder(pool)
	entry := added.AddModule(added.AddUtf8(module))
	changed := slices.Clone(info[:end])
	binary.BigEndian.PutUint16(changed[countAt:], uint16(count+1))
	for _, v := range []uint16{entry, accSynthetic, 0} {
		changed = binary.BigEndian.AppendUint16(changed, v)
	}
	changed = append(changed, info[end:]...)
	return c.Rewrite(classfile.Edit{Constants: added, Attributes: map[int][]byte{index: changed}})
}
