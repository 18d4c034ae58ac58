package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// unrenamed is put before the class of a retired method whose original name is unknown. No class name contains a ';'
// (JVMS 4.2.1), so that no method ever matches it.
const unrenamed = "residual;"

// residualMethod is a method as package r8 has it, which does not know this package, nor this one that.
type residualMethod interface {
	~struct{ Class, Name, Descriptor string }
}

// Originals is a mapping of R8, package r8's Mapping. M is its type for a method.
type Originals[M residualMethod] interface {
	// OriginalClass returns the original name of a class.
	OriginalClass(residual string) (original string, ok bool)
	// Identify returns the original names of methods of one class.
	Identify(residual []M) []M
}

// Renamed returns the mapping with original names, if it was made of a shrunk program. by must be the R8 mapping of
// the same build. The result can be the base mapping of a build whose shrinker chose other names or did not run. IDs
// stay as they are. The digest is computed from the original names; no app has it.
//
// Each living method gets the name that [Originals] returns for it. Retired methods are of earlier builds, in
// which the same residual names belonged to other methods, and by contains nothing about those builds. Translating
// them would give their IDs to the wrong methods. So they only keep their IDs, under class names that begin with
// "residual;". The same holds for living methods whose original name another method already has.
func Renamed[M residualMethod](m *Mapping, by Originals[M]) *Mapping {
	named := make([]record, 0, m.size())
	retired := make([]record, 0, m.size()-m.living)
	taken := make(map[string]bool, m.living)
	keys := originalKeys(m, by)
	for i := range m.size() {
		r := m.record(i)
		if key := keys[i]; key != "" && !taken[key] {
			taken[key], r.key = true, key
			named = append(named, r)
			continue
		}
		for !strings.HasPrefix(r.key, unrenamed) || taken[r.key] {
			r.key = unrenamed + r.key
		}
		taken[r.key] = true
		retired = append(retired, r)
	}
	living := len(named)
	slices.SortFunc(retired, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	renamed, _, _ := newMapping(append(named, retired...), living)
	renamed.runtime = m.runtime
	for _, f := range m.focus {
		if original, ok := by.OriginalClass(f.Class); ok {
			f.Class = original
		}
		renamed.focus = append(renamed.focus, f)
	}
	slices.SortFunc(renamed.focus, func(a, b Focus) int { return strings.Compare(Text(a.Class), Text(b.Class)) })
	return renamed
}

// originalKeys returns the original keys of the living methods by index, and "" for the others. What a method is called
// depends on the other methods of its class, so that classes are translated as a whole.
func originalKeys[M residualMethod](m *Mapping, by Originals[M]) []string {
	keys := make([]string, m.size())
	classes := make(map[string][]int)
	for i := range m.living {
		class, _, _ := split(m.record(i).key)
		classes[class] = append(classes[class], i)
	}
	var methods []M
	for _, of := range classes {
		methods = methods[:0]
		for _, i := range of {
			methods = append(methods, M(m.entryAt(i).Identity))
		}
		for k, original := range by.Identify(methods) {
			keys[of[k]] = string(appendKey(nil, Identity(original)))
		}
	}
	return keys
}
