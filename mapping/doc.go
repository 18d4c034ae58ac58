// Package mapping assigns method IDs, saves and loads them, looks them up and compares them.
//
// A [Mapping] is made by [Assign], from the methods that are to be traced and optionally the mapping of an earlier
// build, or it is read by [Load] or [Parse]. It is immutable and safe for use by several goroutines. Its content
// depends only on the set of methods, the base mapping and the options.
//
// # Identities and their text form
//
// A method is identified by class, name and descriptor ([Identity]). In memory these are the modified UTF-8 (MUTF-8)
// bytes of the constant pool in internal form (JVMS 4.2, 4.4.7). In files each of the three is written in text form
// ([Text]):
//
//   - '/' is written '.'; a '.' in the name, which JVMS 4.2 forbids in all three, is written %2E.
//   - A byte that cannot stand for itself is written %XX, with two upper-case hexadecimal digits. %XX always means
//     one byte, never a code point.
//   - Written as %XX are space, comma, '#' and '%', the control characters U+0000 to U+001F and U+007F to U+009F, and
//     the spaces and invisible characters of a fixed list (see invisible). The list is fixed so that the text form
//     does not change with a version of Unicode. It contains the line separators at which Java's Scanner, and so
//     Matrix's reader, would split a line.
//   - Written as %XX are also all bytes that are not MUTF-8, and lone surrogates. NUL (C0 80) is %C0%80. A surrogate
//     pair is written as one character of 4 UTF-8 bytes.
//   - All other characters stand for themselves, in UTF-8.
//
// Different names have different text forms, and [ParseText] returns exactly the bytes that a text form was made
// from. It also accepts text that is not canonical ('/', unnecessary escapes). The key of a method is "class method
// descriptor", each in text form, separated by single spaces. No field contains a byte below '!', so that the byte
// order of keys is the order of (class, method, descriptor). "Sorted" means this order.
//
// # Placement
//
// IDs run from 1 to [Capacity], which is 1,048,573. [DispatchID] is the ID of the message dispatch; the number after
// it is never used. A method that the base mapping contains, living or retired, keeps its ID. The other methods get
// IDs one after the other, in sorted order. With [OrderHash] each gets the first free ID at or above
//
//	1 + SHA-256(key) mod 1,048,573
//
// where the hash is read as a 256-bit big-endian number, and 1 follows Capacity. With [OrderCompact] each gets the
// lowest free ID. Methods of the base mapping that are gone are retired: no other method gets their IDs, and they get
// them again if they come back.
//
// Placement by hash lets builds without a common base mapping agree on nearly all IDs: a method's ID depends on other
// methods only if their hashes collide. The price is IDs that need more bytes in class files than dense ones.
//
// # File format
//
// UTF-8, with a newline after every line:
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
//	# message 1
//
// A method line is ID, access_flags (JVMS 4.6, decimal) and key. Method, numbered and retired lines are sorted by ID,
// focus lines by class. A numbered line is about a living method whose name is [Numbered]; it has the fingerprint of
// the method's code (see [AssignEach]) in 16 hexadecimal digits. A message line is about a living method whose calls
// are messages; the counts line does not count these lines. The digest is the first 8 bytes of SHA-256 over the method
// lines with their newlines, including the dispatch line and without comments. The digest does not cover retired,
// focus, numbered and message lines; the counts line shows if some of them were lost. It may be missing; the other
// header lines may not. Other comments are skipped.
//
// A file without the first line is read as a mapping of Matrix: comments have no meaning, descriptors and the
// dispatch line may be missing, names are literal (Matrix escapes nothing, so that a name may contain spaces and
// commas), and access flags are ASM's, whose bits above 16 are dropped.
//
// # Speed
//
// A full mapping is about 100 MB of text. The records of a loaded mapping are views into that text, one
// open-addressed table finds them by key, and names are decoded only when they are requested. So loading costs little
// more than reading and hashing. A mapping that was assigned has no text: it keeps the strings of its methods, makes
// keys and lines when it is written, and makes the table when a method is first looked up. It takes some 45 bytes a
// method besides the strings, which the caller has in memory anyway.
package mapping
