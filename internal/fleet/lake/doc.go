// Package lake is the table of reports and stalls, and the recordings beside it, in a directory or a bucket.
//
//	analysis.Row, devicereport.Report ─► Row ─► Lake.Write ─► a Parquet file ─► Lake.Read, DuckDB, Spark, ClickHouse
//
// # What a store has
//
//	tracegen-collect                                              the version
//	reports/package=P/mapping=M/date=D/TIME-RANDOM.parquet        rows, by the day on which they were received
//	reports/package=P/mapping=M/date=D/TIME-RANDOM-merged.parquet rows of several files
//	recordings/P/M/RECORDING.part1.tgd
//	forgotten/TIME-RANDOM.json                                    who was forgotten
//
// # Consistency
//
// There is no list of the files that count: all count, and a row counts once by its ID. So there is no file that two
// processes change, and any number of them write, merge, remove and read at the same time. What a process does in which
// order makes sure that a reader, and a process that comes after one that was killed, never misses a row:
//
//   - A file appears as a whole and is never changed. To replace some by one ([Lake.Compact]), the one is written, and
//     then the others are removed. Until then rows are there twice.
//   - [Lake.Forget] writes a tombstone, and then lists the files and replaces those that have rows to forget. A process
//     that writes a file reads the tombstones before and again after it has written ([Lake.UntilStable]): either it
//     sees the tombstone, or the list has its file.
//   - A process that is killed between these may leave a file that has forgotten rows. A file that Forget has rewritten
//     stays in the partition, also without rows, and has that in its name: so the partition is merged once more, by the
//     tombstones. A segment of a collector is written again by the next process.
//   - [Lake.Expire] removes the files of whole days.
package lake
