package verify

import "fmt"

// Finding is one thing that is wrong with a class.
type Finding struct {
	Class              string // internal form, as in the class file
	Method, Descriptor string // empty if the finding is about the class as a whole
	Offset             int    // position in the code of the judged class, -1 if the finding has none
	Rule               string // what was broken
	Want, Got          string // what was expected, what was there
	Frame              string // the types at that point, if they were asked for
	Note               bool   // HotSpot takes the class all the same: the JVMS is stricter

	fatal bool // HotSpot throws it: a class of version 50 gets no second chance
}

// rejects says whether HotSpot does not link the class because of it.
func (f Finding) rejects() bool { return !f.Note }

// String gives the finding in one line: CLASS#METHOD(DESCRIPTOR)@OFFSET: RULE: expected WANT, found GOT.
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

// The rules of the equivalence referee.
const (
	rulePool     = "equivalence: constant pool"
	ruleClass    = "equivalence: class structure"
	ruleMethod   = "equivalence: method structure"
	ruleCode     = "equivalence: code"
	ruleEntry    = "equivalence: entry"
	ruleExit     = "equivalence: exit"
	ruleID       = "equivalence: id"
	ruleFocus    = "equivalence: focus hook"
	ruleHandler  = "equivalence: exact handler"
	rulePosition = "equivalence: position"
	ruleTable    = "equivalence: table"
	ruleFrames   = "equivalence: frames"
	ruleStack    = "equivalence: max_stack"
	ruleStamp    = "equivalence: mapping digest"
)
