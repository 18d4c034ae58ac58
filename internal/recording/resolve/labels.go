package resolve

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// labelSeed is of the hashes of this process. A collision adds parameters to a name, and no more.
var labelSeed = maphash.MakeSeed()

// overloads has the descriptors of methods whose class has several methods of their name, by a hash of both.
type overloads map[uint64][]string

func hashOf(class, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(labelSeed)
	h.WriteString(class)
	h.WriteByte(0)
	h.WriteString(name)
	return h.Sum64()
}

// overloadsOf finds the overloaded methods of a mapping.
func overloadsOf(m *mapping.Mapping) overloads {
	hashes := make([]uint64, 0, m.Len())
	for e := range m.All() {
		hashes = append(hashes, hashOf(e.Class, e.Name))
	}
	slices.Sort(hashes)
	all := overloads{}
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			all[hashes[i]] = nil
		}
	}
	for e := range m.All() {
		if list, some := all[hashOf(e.Class, e.Name)]; some {
			all[hashOf(e.Class, e.Name)] = append(list, e.Descriptor)
		}
	}
	return all
}

// sourceLabels has the methods that are called by their place in the source, by a hash of class and name.
type sourceLabels map[uint64]string

// sourceLabelsOf finds them. A label is for the methods of one class and name: where what compilers have made of a
// function would be called as the function itself, all of them keep their compiled names.
func sourceLabelsOf(m *mapping.Mapping) sourceLabels {
	all, owners := sourceLabels{}, map[string]uint64{}
	for e := range m.All() {
		s, ok := mapping.SourceOf(mapping.Identity{Class: mapping.Text(e.Class), Name: mapping.Text(e.Name)})
		if !ok {
			continue
		}
		label, hash := s.String(), hashOf(e.Class, e.Name)
		all[hash] = label
		if owner, taken := owners[label]; taken && owner != hash {
			hash = 0
		}
		owners[label] = hash
	}
	var text []byte
	for e := range m.All() {
		text = append(append(append(text[:0], mapping.Text(e.Class)...), '.'), mapping.Text(e.Name)...)
		if owner := owners[string(text)]; owner != 0 && owner != hashOf(e.Class, e.Name) {
			owners[string(text)] = 0
		}
	}
	for hash, label := range all {
		if owners[label] != hash {
			delete(all, hash)
		}
	}
	return all
}

// Label returns what every format calls a method: "Class.method", or for what a compiler has made of a function its
// place in the source as [mapping.Source] says it, with the types of its parameters behind it if its class has several
// methods of that name, and with more of its descriptor if that is not enough. A method without a name is "#" and its
// ID.
func (n *Names) Label(m trace.Method) string {
	name, _ := n.Name(m)
	return n.place(m, name) + n.suffix(m, name)
}

// place is a method's label without what distinguishes overloaded ones.
func (n *Names) place(m trace.Method, name trace.Name) string {
	if n.mapping == nil || m >= trace.FirstNamed {
		// Not where the label would be that of the function itself: it may be there, too.
		s, ok := mapping.SourceOf(mapping.Identity{Class: name.Class, Name: name.Method})
		if ok && s.Part != "" {
			return s.String()
		}
		return name.String()
	}
	if n.sources == nil {
		n.sources = sourceLabelsOf(n.mapping)
	}
	if e, ok := n.mapping.ByID(uint32(m)); ok {
		if label, ok := n.sources[hashOf(e.Class, e.Name)]; ok {
			return label
		}
	}
	return name.String()
}

// suffix is what distinguishes a method from others of its class and name.
func (n *Names) suffix(m trace.Method, name trace.Name) string {
	if n.mapping == nil || name.Descriptor == "" || m >= trace.FirstNamed {
		return ""
	}
	if text, ok := n.suffixes[m]; ok {
		return text
	}
	if n.overloads == nil {
		n.overloads = overloadsOf(n.mapping)
	}
	e, _ := n.mapping.ByID(uint32(m))
	text := ""
	if descriptors := n.overloads[hashOf(e.Class, e.Name)]; len(descriptors) > 0 {
		for _, form := range []func(string) string{Parameters, wholeParameters, signature} {
			text = form(e.Descriptor)
			same := 0
			for _, d := range descriptors {
				if form(d) == text {
					same++
				}
			}
			if same <= 1 {
				break
			}
		}
	}
	n.suffixes[m] = text
	return text
}

// wholeParameters returns a descriptor's parameter types, classes with their packages.
func wholeParameters(descriptor string) string { return parametersOf(descriptor, true) }

// signature returns a descriptor's parameter types and its result, classes with their packages.
func signature(descriptor string) string {
	result := descriptor[strings.LastIndexByte(descriptor, ')')+1:]
	return wholeParameters(descriptor) + ": " + strings.Trim(wholeParameters("("+result+")"), "()")
}

// Parameters returns a descriptor's parameter types in Java's notation, classes without their packages, and those of a
// composable without what Compose's compiler adds; nothing if it is not known.
func Parameters(descriptor string) string {
	source, _ := mapping.WithoutComposer(descriptor)
	return parametersOf(source, false)
}

func parametersOf(descriptor string, packages bool) string {
	if descriptor == "" {
		return ""
	}
	end := strings.LastIndexByte(descriptor, ')')
	if end < 1 || descriptor[0] != '(' {
		return "(" + descriptor + ")"
	}
	var types []string
	for rest := descriptor[1:end]; rest != ""; {
		dimensions := len(rest) - len(strings.TrimLeft(rest, "["))
		rest = rest[dimensions:]
		if rest == "" {
			break
		}
		name, length := rest[:1], 1
		if rest[0] == 'L' {
			if length = strings.IndexByte(rest, ';') + 1; length == 0 {
				length = len(rest)
			}
			name = strings.TrimSuffix(rest[1:length], ";")
			if !packages {
				name = name[strings.LastIndexByte(name, '/')+1:]
			}
			name = strings.ReplaceAll(name, "/", ".")
		} else if p, ok := primitives[rest[0]]; ok {
			name = p
		}
		types = append(types, name+strings.Repeat("[]", dimensions))
		rest = rest[length:]
	}
	return "(" + strings.Join(types, ", ") + ")"
}

var primitives = map[byte]string{
	'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long", 'S': "short", 'Z': "boolean",
	'V': "void",
}
