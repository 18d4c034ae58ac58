package types

import "github.com/tracegen/tracegen/classfile"

// OnFullPath returns the checker with which no class takes the quick path.
func (c *Checker) OnFullPath() *Checker {
	return &Checker{Hierarchy: c.Hierarchy, Frames: c.Frames, Notes: c.Notes, Strict: c.Strict, Asked: c.Asked, slow: true}
}

// PassesQuickly reports whether the quick path is sure that the code of a class has no fault.
func (c *Checker) PassesQuickly(class *classfile.Class) bool {
	_, sure := c.check(newChecker(), class, true)
	return sure
}
