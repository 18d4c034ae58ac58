// Package objects stores named objects in a directory or in a bucket of a server that speaks S3.
//
//	Open("DIR" or "s3://BUCKET/PREFIX") ─► Store ─► List, Read, Put, Remove
//
// An object appears as a whole or not at all, and is never changed in place: a reader gets the old content or the new
// one. Nothing else is promised, as buckets promise nothing else. What is written is on the disk, or with the server,
// when the call returns.
package objects
