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
}

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
