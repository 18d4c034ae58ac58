// Package zipfile reads and writes zip archives (.jar, .zip, .aar), and keeps every byte of what is not changed.
//
// # Why not archive/zip
//
// A program that rewrites jars must keep everything that it does not change: compressed bytes, the extra fields of
// the local and of the central header (they differ), data descriptors, DOS times, attributes, comments, bytes in
// front of the first entry (self-executing jars), names that are not UTF-8, entries that exist twice. The standard
// library normalises most of that. So this package decodes the container itself, by PKWARE's APPNOTE.TXT 6.3.
// Section numbers in comments are those of that document. The JDK is the model for what is accepted: a file that
// java.util.zip.ZipFile opens can be opened here, unless it has one of the faults listed below.
// TestOddArchives compares both for archives that have faults.
//
// # From an archive to an archive
//
//	Open/New ──► Archive ──► []Entry ──► Codec.Read ──► (class bytes)     any number of goroutines
//	                            │                            │
//	                            │                       Codec.Compress    any number of goroutines
//	                            ▼                            ▼
//	                       Writer.Copy              Writer.Replace/Add    one goroutine, in order
//	                            └────────► Writer.Close ◄────┘
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
//   - Open fails with ErrFormat if the container contradicts itself: a record is out of bounds, a signature is missing,
//     or entries overlap (two names for the same data are used for zip bombs and to hide files).
//   - Codec.Read fails with ErrFormat if one entry is malformed: its local header contradicts the central directory,
//     its data does not inflate, or its size or CRC is wrong. Such an entry can still be copied; the copy has the same
//     fault.
//   - Codec.Read fails with ErrUnsupported for encrypted entries and for other compression methods than stored and
//     deflated. They can be copied too.
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
package zipfile
