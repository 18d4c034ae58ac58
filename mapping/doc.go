// Package mapping gives every traced method a number and keeps it: it assigns
// method IDs, saves and loads them, and looks them up.
//
// A [Mapping] is made by [Assign], from the methods that are to be traced and
// perhaps the mapping of an earlier build, or read by [Load] or [Parse]. It is
// immutable, and safe for use by several goroutines. What it holds depends on
// the methods (as a set), the base and the options alone.
//
// # Identities and their text form
//
// A method is identified by class, name and descriptor ([Identity]), kept as
// the raw MUTF-8 bytes of the constant pool in internal form (JVMS 4.2, 4.4.7).
// In files each of the three is written in text form ([Text]):
//
//   - '/' is written '.'; a raw '.', which JVMS 4.2 forbids in all three, %2E.
//   - A byte that cannot stand for itself is written %XX, with two upper-case
//     hexadecimal digits. %XX always means one raw byte, never a code point.
//   - Written so are space, comma, '#' and '%'; the control characters U+0000
//     to U+001F and U+007F to U+009F; every space and invisible format
//     character of [invisible], a fixed list, so that the text form does not
//     change with a Unicode version (among them are the line separators at
//     which Java's Scanner, and with it Matrix's reader, would cut a line).
//   - Written so are also all bytes that are not MUTF-8, and lone surrogates.
//     NUL (C0 80) is %C0%80. A surrogate pair is one character of 4 UTF-8 bytes.
//   - All else stands for itself, in UTF-8.
//
// The text form is injective, and [ParseText] gives back exactly the bytes it
// came from. It also reads what is not canonical ('/', needless escapes).
// "class method descriptor", each in text form, with single spaces between, is
// the method's key. As no field holds a byte below '!', byte order of keys is
// the order of (class, method, descriptor); this is what "sorted" means here.
//
// # Placement
//
// IDs run from 1 to [Capacity], which is 1,048,573. [DispatchID] stands for the
// message dispatch, the number after it is never used. A method that the base
// knows, as living or as retired, keeps its ID. The others are taken in sorted
// order; with [OrderHash] each gets the first free ID, going up and from
// Capacity on to 1, from
//
//	1 + SHA-256(key) mod 1,048,573
//
// where the hash is the whole 256-bit big-endian number; with [OrderCompact]
// each gets the lowest free ID. Methods of the base that are gone are retired:
// their IDs stay taken, and they get them back should they return.
//
// # File format
//
// UTF-8, a newline after every line:
//
//	# tracegen-mapping 1
//	# digest 9f86d081884c7d65
//	# runtime dev.tracegen.runtime.AppMethodBeat
//	# counts 1 methods, 1 focus, 1 retired
//	1,1,com.example.Foo bar (ILjava.lang.String;)V
//	1048574,1,android.os.Handler dispatchMessage (Landroid.os.Message;)V
//	# focus com.example.MainActivity add
//	# numbered 31 4c0ffee51dec0de5
//	# retired 17,1,com.example.Old gone ()V
//
// Methods, numbered and retired lines are sorted by ID, focus lines by class. A
// numbered line is about a living method whose name is [Numbered], and has what
// its code is told by ([Options.Bodies]) in 16 hexadecimal digits. A method
// line is ID, access_flags (JVMS 4.6, decimal) and key. The digest is the first
// 8 bytes of SHA-256 over the method lines with their newlines, the dispatch
// line included and comments not. The counts line is what shows that lines were
// lost from the part that the digest does not cover; it may be missing, all
// else of the header may not. Other comments are skipped.
//
// A file without the first line is read as one of Matrix's: comments mean
// nothing, the descriptor and the dispatch line may be missing, names are taken
// literally (Matrix escapes nothing, so a name may hold spaces and commas), and
// access flags are ASM's, whose bits above 16 are dropped.
//
// # Speed
//
// A full mapping is about 100 MB of text. The records of one that was read are
// views into that text, one open-addressed table finds them by key, and raw
// names are made only for what is asked for; so loading costs little more than
// reading and hashing. One that was assigned has no text: it keeps the strings
// that its methods came with, makes keys and lines of them as they are written,
// and the table when it is first asked for a method; so it costs some 45 bytes a
// method beside what the caller has anyway.
package mapping
