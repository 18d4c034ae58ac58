// Package jar reads and writes zip containers (.jar, .zip, .aar) so that what is not changed stays
// as it was, byte for byte.
//
// # Why not archive/zip
//
// A rewriter of jars must give back everything it was not asked to touch: compressed bytes, the
// extra fields of the local and of the central header (they differ), data descriptors, DOS times,
// attributes, comments, bytes in front of the first entry (self-executing jars), names that are not
// UTF-8, entries that exist twice. The standard library normalises most of that. So the container
// is decoded here, after PKWARE's APPNOTE.TXT 6.3 (section numbers below are its), and the JDK
// decides what is read leniently: what java.util.zip.ZipFile opens, opens here, unless it is one of
// the things a build must not be fooled by (below).
//
// # The way of a jar
//
//	Open/New ──► Archive ──► []Entry ──► Codec.Read ──► (class bytes)     any number of goroutines
//	                            │                            │
//	                            │                       Codec.Compress    any number of goroutines
//	                            ▼                            ▼
//	                       Writer.Copy              Writer.Replace/Add    one goroutine, in order
//	                            └────────► Writer.Close ◄────┘
//	                                            │
//	                                   File (temporary file, Commit)
//
// An Archive is immutable. It is a view of the mapped file: no entry costs an allocation, names are
// cut from one copy of the central directory, and a run of entries that lie side by side is written
// by one write straight from the mapping. Inflaters, deflaters and their buffers belong to a Codec
// that the caller owns; the package has no state of its own.
//
// # What is the truth
//
// The central directory is. Local headers and data descriptors are compared with it when the
// archive is opened. Errors come in three grades:
//
//   - Open fails with ErrFormat where the container contradicts itself: records out of bounds, a
//     missing signature, entries that overlap (two names for one piece of data make a zip bomb or
//     a disguise).
//   - Codec.Read fails with ErrFormat where one entry is wrong: a local header that says something
//     else than the central directory, data that does not inflate, wrong size, wrong CRC. Such an
//     entry can still be copied raw: it is then as wrong as it was.
//   - Codec.Read fails with ErrUnsupported for encrypted entries and foreign compression methods.
//     They too can be copied raw.
//
// No size that a file claims is believed before it is compared with what is there: deflate cannot
// expand by more than 1032, so that a buffer is never bigger than that times the compressed bytes.
// A mapped file that somebody truncates meanwhile gives an error, not a crash.
//
// # What a changed archive loses
//
// Bytes that belong to no record: gaps between entries, an APK signing block, what the zip64 end
// record may carry beyond its fields. Entries stand in the order of the central directory. A
// replaced entry has its sizes in the local header instead of in a data descriptor. Everything else
// survives; an archive of which nothing changed should be copied whole (Archive.WriteTo).
package jar
