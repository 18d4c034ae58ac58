// Package group answers what a team asks of the recordings of many users and builds: which stalls hurt most, since
// when, and what a new build has made slower.
//
//	analysis.Stall ─► analysis.Row ─► Stalls.Add ─► Stalls.Groups ─► ranked
//	                                      └───────► Table ─► a data warehouse
//	trace.Segment ─► Sample, of one build or the other ─► Compare ─► what changed, and how sure that is
//
// # Groups
//
// An [analysis.Row] is a stall or an incident with names in place of IDs, so that it means the same in any build. A
// [StallGroup] is all stalls with one hot path. A group's rank is how many users it hurt times how long it took on
// average (the mean): a stall of a second that a thousand users meet comes before one of ten seconds that ten meet.
//
// A [Stalls] makes the groups while stalls are added: it keeps sums, the users, and the worst stall of each group. A
// recording that was added already, by its content, is not counted again, nor is a report of a stall that a recording
// has.
//
// # Comparing
//
// A [Sample] sums up, for each method by name, how long it took in each of many units of work. A unit is a recording
// where both sides have [LeastUnits] at least, for recordings of different runs are independent of each other; else a
// message. [Compare] holds the means of two samples against each other by Welch's test, which asks neither for equal
// variances nor for equal numbers, and returns a confidence interval of 95 %. With thousands of methods some differ by
// chance; so a change is called sure only if it stays so after Benjamini and Hochberg's correction, by which one in
// twenty of those that are called sure is expected to be chance.
package group
