// Package collect receives the reports and recordings that apps send, and stores them in a lake, so that tracegen group
// and a data warehouse can read them.
//
//	POST /v1/reports ─► Server: token, limits, gzip, JSON ─► Store.Add ─► write-ahead log
//	                       every minute, or when it is large: segment ─► Parquet files of package lake
//	PUT /v1/recordings/... ─► Server ─► Store.AddRecording ─► an object of the lake
//	GET /v1/config ─► Server ─► Configs: signed texts
//
// # What is on disk
//
// The collector has no state but the write-ahead log, a local directory of segments that only it writes. The reports of
// some requests are appended to a segment, and one sync later the requests are answered: whenever the process is killed
// after that, the next one finds them. A segment that is complete becomes Parquet files, one for each partition: a
// package, a mapping, and the day on which the reports arrived. The files have the name of the segment, so that after a
// kill in between the next process writes the same files again; when all are there, the segment is removed. While the
// store cannot be written, segments wait, until they have [maxLog] bytes.
//
// Any number of collectors write to one store, as each has its own segments. A collector remembers the IDs of the last
// reports, and those in its log. A report that comes twice beyond that is in the table twice, and the views of the
// table count it once.
//
// # Names
//
// Reports have IDs of methods. A [Store] with mappings writes names and group keys into the Parquet files, by the
// functions that group uses. When a mapping arrives after the reports of its build, the names are added when the files
// of the day are merged, or later.
//
// # Memory
//
// The memory of a Store does not depend on the number of reports that it has: one partition of a segment is read at a
// time, record by record, and a Parquet file is written row group by row group. The IDs that are remembered take at
// most about 20 MB. The inflated bodies of requests that are in progress have at most [bodyBudget] bytes together; a
// request that needs more is answered with 429.
package collect
