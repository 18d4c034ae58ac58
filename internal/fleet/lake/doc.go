// Package lake is the table of reports and stalls, and the recordings beside it, in a directory or a bucket.
//
//	analysis.Row, devicereport.Report ─► Row ─► Lake.Write ─► a Parquet file ─► Lake.Read, DuckDB, Spark, ClickHouse
//
// # What a store has
//
//	tracegen-collect                                              the version
//	reports/package=P/mapping=M/date=D/TIME-RANDOM.parquet        rows, by the day on which they were received
//	recordings/P/M/RECORDING.part1.tgd
package lake
