// Package mappingstore keeps the mappings of many releases in a directory or in a bucket of an object
// store that speaks S3.
//
// # Releases and objects
//
// A release is what one [Archive.Push] adds: a method mapping, and with it the mapping of R8 and the source lines of
// the same build, if they are given. The archive has these files; in a bucket, they are keys below the prefix:
//
//	tracegen-archive                     the text "tracegen-archive 2\n"
//	objects/ID.KIND.zst                  a file of a release, compressed by zstd
//	releases/DIGEST~TIME~ID~SUM~VERSION~VARIANT.json
//	                                     a release: JSON, see Details
//
// All that a list needs stands in the names of releases, so that a list of 10,000 releases takes ten requests. DIGEST
// is that of the mapping. TIME is when the release was pushed (UTC). ID is a hash of what the release consists of,
// without the time: pushing a release again finds the same ID and adds nothing. SUM is a hash of the JSON, by which
// damage is noticed. In VERSION and VARIANT, bytes other than letters, digits, '.', '-', '_' and '+' are written =XX.
//
// # Concurrency and failures
//
// There is no file that two processes change: what they write under one name has the same content. A release is
// written last, when all its objects are stored, so that a reader never sees a part of one, and what a
// killed push leaves is not used by a reader. Two pushes at the same time both succeed. A file of a directory is
// written under a temporary name, synced, and renamed; a bucket shows an object only when all of it has arrived.
//
// Everything is checked when it is read: a release by SUM, a file by the SHA-256 in the release, a mapping by its own
// digest. The error for what is damaged ([DamagedError]) names the object. To push the release
// again from its files repairs it.
package mappingstore
