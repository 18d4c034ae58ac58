// Package classfile reads and writes Java class files (JVMS chapter 4, major versions 45 to 72) without
// losing a byte.
//
// [Parse] takes one byte slice and returns a [Class], a model that holds views into that slice: names are strings
// that share its memory, attributes are sub-slices of it. Parse decodes as little as possible: of a constant pool
// entry, for instance, it only finds the offset. The model never changes after Parse, and [Class.Bytes] returns the
// slice that was parsed.
//
// A changed class is written by [Class.Rewrite], which takes an [Edit]: constants to append, Code attributes to
// replace, methods to append. Everything that the edit does not name is copied in bulk. New constants are appended
// to the end of the pool, so that every index in the copied bytes stays valid.
//
// The package code, in the directory below this one, decodes the content of a Code attribute: instructions, frames,
// tables of offsets. The packages in verify check whether a class is valid beyond its structure. Parse checks only
// what it needs to find the parts of a class: sizes, constant tags, attribute names.
//
// Names and descriptors are kept as the class file has them, in modified UTF-8 (JVMS 4.4.7) and internal
// form ("java/lang/Object"). [DecodeMUTF8] and [EncodeMUTF8] convert them.
package classfile
