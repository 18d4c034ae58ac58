// Package jar reads and writes zip containers (.jar, .zip, .aar) so that what is not changed stays
// as it was, byte for byte.
//
// # Why not archive/zip
//
// A program that rewrites jars must keep everything that it does not change: compressed bytes, the extra fields of
// the local and of the central header (they differ), data descriptors, DOS times, attributes, comments, bytes in
// front of the first entry (self-executing jars), names that are not UTF-8, entries that exist twice. The standard
// library normalises most of that. So this package decodes the container itself, by PKWARE's APPNOTE.TXT 6.3.
// Section numbers in comments are those of that document. The JDK is the model for what is accepted: a file that
// java.util.zip.ZipFile opens can be opened here, unless it has one of the faults listed below.
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
// An Archive is immutable. It is a view of the mapped file: there is no allocation for each entry, names are slices
// of one copy of the central directory, and entries that lie side by side are copied by one write from the mapping.
// Inflaters, deflaters and their buffers belong to a Codec that the caller owns; the package itself has no state.
//
// # Which data is trusted
//
// The central directory is trusted. Local headers and data descriptors are compared with it when the archive is
// opened. There are three kinds of errors:
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
// A size in the file is checked against the bytes that are there before it is used: deflate cannot expand data by
// more than a factor of 1032, so a buffer is never bigger than that times the compressed bytes. If a mapped file is
// truncated by another program while it is read, the result is an error and not a crash.
//
// # What a changed archive loses
//
// It loses bytes that belong to no record: gaps between entries, an APK signing block, data in the zip64 end record
// behind its fields. Its entries are in the order of the central directory. A replaced entry has its sizes in the
// local header instead of in a data descriptor. Everything else is kept. An archive in which nothing changed should
// be copied as a whole (Archive.WriteTo).
package jar
