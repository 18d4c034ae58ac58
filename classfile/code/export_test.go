package code

import "github.com/tracegen/tracegen/classfile"

// FollowPaths is [Depths.Follow] as it is for code that followInOrder does not follow.
func (d *Depths) FollowPaths(pool *classfile.ConstantPool, code *classfile.Code) error {
	d.reset(pool, code.Bytecode)
	return d.followPaths(code)
}

// InOrder reports whether followInOrder has followed the code.
func (d *Depths) InOrder() bool { return d.inOrder }
