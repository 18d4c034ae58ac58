// Package classfile reads and writes Java class files (JVMS chapter 4, major versions 45 to 70) without
// losing a byte.
//
// [Parse] takes one byte slice and returns a [Class], a model that holds views into that slice: names are
// strings that share its memory, attributes are sub-slices of it. Nothing is decoded that was not asked
// for; constant pool entries, for one, are only measured. The model never changes after Parse, and
// [Class.Bytes] gives back the very slice that went in.
//
// A changed class is written by [Class.Rewrite], which takes an [Edit]: constants to append, Code
// attributes to replace, methods to append. Everything that the edit does not name is copied in bulk. The
// pool only grows at its end, so that no index in a copied byte ever goes stale.
//
// What lies inside a Code attribute (instructions, frames, tables of offsets) is the business of the
// package code below this one; whether a class is valid beyond its structure is that of verify. Parse
// checks what it must to find its way: sizes, constant tags, attribute names.
//
// Names and descriptors are kept as the class file has them, in modified UTF-8 (JVMS 4.4.7) and internal
// form ("java/lang/Object"). [DecodeMUTF8] and [EncodeMUTF8] convert them.
package classfile
