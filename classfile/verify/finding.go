package verify

import "fmt"

// Finding is one fault that a check reports in a class.
type Finding struct {
	Class              string // internal form, as in the class file
	Method, Descriptor string // empty if the finding is about the class as a whole
	Offset             int    // position in the code of the checked class, -1 if the finding has none
	Rule               string // the violated rule: a section of the JVMS, or a rule of the equivalence check
	Want, Got          string // what the rule demands, what the class has
	Frame              string // the types at Offset, if the type checker was asked for them
}

// RuleLimit is the Rule of a finding that says that the check of a class or method was not finished, because it would
// take more steps or memory than the checker allows. The class may be correct.
const RuleLimit = "limit"

// String returns the finding as one line: CLASS#METHOD(DESCRIPTOR)@OFFSET: RULE: expected WANT, found GOT.
func (f Finding) String() string {
	place := f.Class
	if f.Method != "" {
		place += "#" + f.Method + f.Descriptor
	}
	if f.Offset >= 0 {
		place = fmt.Sprintf("%s@%d", place, f.Offset)
	}
	return fmt.Sprintf("%s: %s: expected %s, found %s", place, f.Rule, f.Want, f.Got)
}
