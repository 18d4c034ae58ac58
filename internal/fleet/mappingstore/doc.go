// Package mappingstore keeps the mappings of many releases in a directory or in a bucket of an object
// store that speaks S3.
//
// # Releases and objects
//
// A release is what one [Archive.Push] adds: a method mapping, and with it the mapping of R8, the source lines and the
// report of the same build, if they are given. Its content is divided into objects. The archive has these files; in a
// bucket, they are keys below the prefix:
//
//	tracegen-archive                     the text "tracegen-archive 1\n"
//	objects/ab/abcd…                     an object, named by the SHA-256 of its bytes
//	releases/DIGEST~TIME~ID~SUM~VERSION~VARIANT.json
//	                                     a release: JSON, see manifest
//
// All that a list needs stands in the names of releases, so that a list of 10,000 releases takes ten requests. DIGEST
// is that of the mapping. TIME is when the release was pushed (UTC). ID is a hash of what the release consists of,
// without the time and the form of storage: pushing a release again finds the same ID and adds nothing. SUM is a hash
// of the JSON, by which damage is noticed. In VERSION and VARIANT, bytes other than letters, digits, '.', '-', '_' and
// '+' are written =XX.
//
// # Compression
//
// An object is a line of text and zstd-compressed data (see object.go). It contains a whole file, or the difference
// between a file and another one, its base: which lines of the base are copied, and which are new. A mapping is sorted
// by ID, and methods keep their IDs, so that the difference between two releases is about as large as what has changed.
// The base of a release is the release that was pushed last, of the same variant if there is one. The list of the
// objects from a whole file to the wanted one is stored in the release: all of them are fetched at once, and none
// depends on a release. After [maxChain] objects, or if the difference is not much smaller than the whole, a whole file
// is stored.
//
// # Concurrency and failures
//
// There is no file that two processes change: objects are named by their content, and a release is a new name. A
// release is written last, when all its objects are stored, so that a reader never sees a part of one, and what a
// killed push leaves is not used by a reader. Two pushes at the same time both succeed. A file of a directory is
// written under a temporary name, synced, and renamed; a bucket shows an object only when all of it has arrived.
//
// Everything is checked when it is read: an object by its name, a release by SUM, a file by the SHA-256 in the release,
// a mapping by its own digest. The error for what is damaged ([DamagedError]) names the object. To push the release
// again from its files repairs it.
package mappingstore
