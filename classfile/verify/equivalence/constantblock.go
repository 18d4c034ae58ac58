package equivalence

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// The members of the runtime class that inserted code calls, and the hooked method.
const (
	entryName, exitName, callDescriptor = "i", "o", "(I)V"
	focusName, focusDescriptor          = "at", "(Landroid/app/Activity;Z)V"
	postName                            = "posted"
	postObjectDescriptor                = "(Ljava/lang/Object;Ljava/lang/Object;I)V"
	postWhatDescriptor                  = "(Ljava/lang/Object;II)V"
	resultDescriptor                    = "(Ljava/lang/Object;I)V" // of o too
	hookedName, hookedDescriptor        = "onWindowFocusChanged", "(Z)V"
)

const throwableName = "java/lang/Throwable"

// block is the block of constants that was appended to a constant pool (see the package comment).
type block struct {
	pool                     *classfile.ConstantPool
	start                    int    // index of its first constant
	entry, exit, focus, hook uint16 // Methodrefs; hook is super.onWindowFocusChanged; 0 if absent
	postObject, postWhat     uint16 // Methodrefs of posted, 0 if absent
	result                   uint16 // Methodref of the o that takes the result, 0 if absent
	// reports has the Methodrefs of the methods that report instances, 0 if absent.
	reports   [reportedResumes + 1]uint16
	throwable uint16 // Class, 0 if absent
	notes     notes
	used      []bool // by index minus start: whether inserted code or another constant needs it
}

// reset makes b a block without calls that begins at index start, and keeps its memory.
func (b *block) reset(pool *classfile.ConstantPool, start int) {
	*b = block{pool: pool, start: start, used: resize(b.used, pool.Len()-start)}
}

// find searches for the block: the last Utf8 with the name of the runtime class that is directly followed by a Class
// that refers to it. If found is false, why is the reason why what starts there is no block of tracegen's; it is empty
// if there is no such pair.
func (b *block) find(pool *classfile.ConstantPool, runtimeClass string) (found bool, why string) {
	for i := pool.Len() - 1; i >= 2; i-- {
		if pool.Tag(uint16(i)) != classfile.TagClass || pool.Tag(uint16(i-1)) != classfile.TagUtf8 {
			continue
		}
		if name, err := pool.ClassName(uint16(i)); err == nil && name == runtimeClass &&
			int(binary.BigEndian.Uint16(pool.Raw(uint16(i)))) == i-1 {
			b.reset(pool, i-1)
			why = b.parse()
			return why == "", why
		}
	}
	return false, ""
}

// parse reads the block. It returns why it is no block of tracegen's, or "".
func (b *block) parse() (why string) {
	pool := b.pool
	b.used[0], b.used[1] = true, true
	for i := b.start + 2; i < pool.Len(); i++ {
		raw := pool.Raw(uint16(i))
		switch tag := pool.Tag(uint16(i)); tag {
		case classfile.TagUtf8:
			if i < pool.Len()-1 {
				continue
			}
			if text, _ := pool.Utf8(uint16(i)); isNotes(text) {
				var ok bool
				if b.notes, ok = parseNotes(text); !ok {
					return fmt.Sprintf("malformed strip notes %q at index %d", text, i)
				}
				b.use(uint16(i))
			}
		case classfile.TagInteger:
		case classfile.TagClass:
			b.use(binary.BigEndian.Uint16(raw))
			if name, _ := pool.ClassName(uint16(i)); name == throwableName {
				b.throwable = uint16(i)
			}
		case classfile.TagNameAndType:
			b.use(binary.BigEndian.Uint16(raw))
			b.use(binary.BigEndian.Uint16(raw[2:]))
		case classfile.TagMethodref:
			if why := b.addMethodref(uint16(i), raw); why != "" {
				return why
			}
		default:
			return fmt.Sprintf("a %v at index %d", tag, i)
		}
	}
	return ""
}

// addMethodref records which of these methods the Methodref i refers to. It returns why it may not be in a block, or
// "".
func (b *block) addMethodref(i uint16, raw []byte) (why string) {
	class := binary.BigEndian.Uint16(raw)
	b.use(class)
	b.use(binary.BigEndian.Uint16(raw[2:]))
	ref, err := b.pool.Ref(i)
	if err != nil {
		return err.Error()
	}
	var slot *uint16
	switch ours := int(class) == b.start+1; {
	case ours && ref.Name == entryName && ref.Descriptor == callDescriptor:
		slot = &b.entry
	case ours && ref.Name == exitName && ref.Descriptor == callDescriptor:
		slot = &b.exit
	case ours && ref.Name == focusName && ref.Descriptor == focusDescriptor:
		slot = &b.focus
	case ours && ref.Name == postName && ref.Descriptor == postObjectDescriptor:
		slot = &b.postObject
	case ours && ref.Name == postName && ref.Descriptor == postWhatDescriptor:
		slot = &b.postWhat
	case ours && ref.Name == exitName && ref.Descriptor == resultDescriptor:
		slot = &b.result
	case ours && ref.Descriptor == resultDescriptor:
		for what := range b.reports {
			if reported(what).String() == ref.Name {
				slot = &b.reports[what]
			}
		}
	case !ours && ref.Name == hookedName && ref.Descriptor == hookedDescriptor:
		slot = &b.hook
	}
	if slot == nil || *slot != 0 {
		return fmt.Sprintf("an unexpected Methodref %s.%s%s at index %d", ref.Class, ref.Name, ref.Descriptor, i)
	}
	*slot = i
	return ""
}

// use marks constant i as needed, if it is in the block.
func (b *block) use(i uint16) {
	if b.has(i) {
		b.used[int(i)-b.start] = true
	}
}

// has reports whether index i lies in the block.
func (b *block) has(i uint16) bool { return int(i) >= b.start && int(i) < b.start+len(b.used) }

// checkUse reports constants of the block that nothing needs. It does nothing if there are other findings: the
// constants may be unused because of them.
func (b *body) checkUse() {
	for i, used := range b.block.used {
		if !used && len(b.findings) == 0 {
			b.member = nil
			b.report(-1, rulePool, "inserted code to use every new constant",
				fmt.Sprintf("no use of constant %d", b.block.start+i))
		}
	}
}
