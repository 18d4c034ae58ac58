package mutate

// Sort is one of the three sorts of mutants.
type Sort string

// The sorts, by what a mutant is made from.
const (
	// Structure: bytes and numbers of the class file's structures.
	Structure Sort = "structure"
	// Instructions: instructions, frames, handlers and what they name, each with one change.
	Instructions Sort = "instructions"
	// Recombined: parts of two classes or methods put together, and well-formed classes with an error of types.
	Recombined Sort = "recombined"
)

// Kind is a kind of fault, by what it changes.
type Kind string

// kinds are the kinds of each sort. times is how often a kind is tried, so that each results in enough mutants that a
// verifier rejects, and more than half of those of instructions are about frames, types and operands. code says that a
// class needs a method with code to have a place for the fault.
var kinds = []struct {
	sort   Sort
	kind   Kind
	times  int
	code   bool
	change func(m *Mutator, data []byte) ([]byte, bool)
}{
	{Structure, "any byte", 4, false, inPlace((*Mutator).anyByte)},
	{Structure, "number in a structure", 4, false, inPlace((*Mutator).field)},
	{Structure, "attribute length", 1, false, inPlace((*Mutator).attributeLength)},
	{Structure, "attribute content", 4, false, inPlace((*Mutator).attributeContent)},
	{Structure, "attribute name", 2, false, (*Mutator).attributeName},
	{Structure, "attribute twice or gone", 3, false, (*Mutator).attributeTwice},
	{Structure, "member twice or gone", 2, false, (*Mutator).memberTwice},
	{Structure, "text", 3, false, (*Mutator).text},
	{Structure, "end of the file", 1, false, (*Mutator).fileEnd},
	{Structure, "version", 1, false, inPlace((*Mutator).version)},
	{Instructions, "frame type", 10, true, inPlace((*Mutator).frameType)},
	{Instructions, "frame entry", 5, true, inPlace((*Mutator).frameEntry)},
	{Instructions, "dropped frame", 3, true, (*Mutator).dropFrame},
	{Instructions, "operand", 6, true, inPlace((*Mutator).operand)},
	{Instructions, "descriptor", 3, false, inPlace((*Mutator).descriptor)},
	{Instructions, "constant index", 2, true, inPlace((*Mutator).constantIndex)},
	{Instructions, "constant kind", 2, false, inPlace((*Mutator).constantKind)},
	{Instructions, "exception range", 6, true, inPlace((*Mutator).exceptionRange)},
	{Instructions, "branch target", 3, true, inPlace((*Mutator).branch)},
	{Instructions, "flags", 2, false, inPlace((*Mutator).flags)},
	{Instructions, "opcode", 1, true, inPlace((*Mutator).opcode)},
	{Instructions, "max_stack, max_locals", 1, true, inPlace((*Mutator).maximum)},
	{Instructions, "swapped instructions", 1, true, inPlace((*Mutator).swap)},
	{Instructions, "cut method", 1, true, (*Mutator).cut},
	{Instructions, "superclass, interface", 1, false, inPlace((*Mutator).hierarchy)},
	{Recombined, "code of another method", 2, true, (*Mutator).bodyOfMethod},
	{Recombined, "frames of another method", 2, true, (*Mutator).framesOfMethod},
	{Recombined, "code of another class", 4, true, (*Mutator).bodyOfClass},
	{Recombined, "method of another class", 4, false, (*Mutator).methodOfClass},
	{Recombined, "constant of another class", 3, false, (*Mutator).constantOfClass},
	{Recombined, "attribute of another class", 4, false, (*Mutator).attributeOfClass},
	{Recombined, "superclass of another class", 2, false, (*Mutator).superOfClass},
	{Recombined, "type of a member", 3, false, (*Mutator).memberType},
	{Recombined, "type of a used member", 3, false, (*Mutator).usedType},
	{Recombined, "class of an instruction", 3, true, (*Mutator).usedClass},
	{Recombined, "missing conversion", 3, true, inPlace((*Mutator).blank)},
	{Recombined, "instruction for another type", 4, true, inPlace((*Mutator).relative)},
}

// inPlace returns a change that leaves the class file as long as it is.
func inPlace(change func(m *Mutator, data []byte) bool) func(*Mutator, []byte) ([]byte, bool) {
	return func(m *Mutator, data []byte) ([]byte, bool) { return data, change(m, data) }
}

// Sorts returns the three sorts.
func Sorts() []Sort { return []Sort{Structure, Instructions, Recombined} }

// Weighted returns every kind of a sort as often as it should be tried.
func Weighted(sort Sort) []Kind {
	var all []Kind
	for _, k := range kinds {
		for range k.times {
			if k.sort == sort {
				all = append(all, k.kind)
			}
		}
	}
	return all
}

// Mutate returns the class with one fault of a kind, or false if it has no place for such a fault.
func (m *Mutator) Mutate(kind Kind) ([]byte, bool) {
	for _, k := range kinds {
		if k.kind == kind && (len(m.bodies) > 0 || !k.code) {
			return k.change(m, append([]byte(nil), m.data...))
		}
	}
	return nil, false
}
