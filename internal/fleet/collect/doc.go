// Package collect receives the reports and recordings that apps send, and stores them so that tracegen group and a data
// warehouse can read them.
//
//	POST /v1/reports ─► Server: token, limits, gzip, JSON ─► Store.Add ─► collect.db: IDs, segment
//	                       every minute, or when it is large: segment ─► Parquet files
//	PUT /v1/recordings/... ─► Server ─► Store.AddRecording ─► a file
//	GET /v1/config ─► Server ─► Configs: signed texts
//
// # What is on disk
//
// A store is a directory:
//
//	collect.db                                                   a database of bbolt
//	reports/package=P/mapping=M/date=D/segment-000000000042.parquet
//	reports/package=P/mapping=M/date=D/merged-000000000099.parquet
//	recordings/P/M/RECORDING.part1.tgd
//
// One transaction of the database adds the reports of some requests to a segment and their IDs to the index of IDs; the
// requests are answered when it is on the disk. So a report is either stored with its ID, or it is not stored and its
// ID is not known, whenever the process is killed.
//
// A segment that is complete becomes Parquet files, one for each partition: a package, a mapping, and the day on which
// the reports arrived. Each file is written under a temporary name, synced and renamed; when all are there, a
// transaction removes the segment. The names of the files contain the segment's number, so that after a kill in between
// the next start writes the same files again. The many small files of a day that has passed are merged into one. The
// database has the list of what is replaced before that begins, and the next start completes it.
//
// # Names
//
// Reports have IDs of methods. A [Store] with mappings writes names and group keys into the Parquet files, by the
// functions that group uses. When a mapping arrives after the reports of its build, the names are added when the files
// of the day are merged.
//
// # Memory
//
// The memory of a Store does not depend on the number of reports that it has: one segment is read at a time, partition
// by partition, and a Parquet file is written in row groups of [rowGroupBytes]. The index of IDs is on the disk. The
// inflated bodies of requests that are in progress have at most [bodyBudget] bytes together; a request that needs more
// is answered with 429.
package collect
