// Package symbolize puts the names of methods to the IDs that people paste: the
// reports of Matrix, in every form that they are met in.
//
// # What is recognised
//
// A record is "depth,ID,count,cost", the line of Matrix's MethodItem. It is met
//
//   - in JSON, or in JSON in a log line, as "stack":"0,97,1,2859\n1,99,30,2859\n",
//     also cut off by the log, and with more backslashes in a string of a string;
//   - behind a key, as "stack = 0,97,1,2859", more records on the next lines;
//   - alone on its line, with or without blank lines between: see below;
//   - as "..99 30 2859" below a line that has "[id count cost]".
//
// The name is put behind it, so that the four fields stay what they were: as a
// fifth field ("0,97,1,2859,com.example.Foo.bar"), or behind a space in the
// table. What was symbolized already is no record any more, and left alone. In a
// stackKey ("97|99|") names stand for the IDs.
//
// Lines of four numbers that nothing announces are records only as a [textreport.Block]; its first lines are held back
// until that is decided.
//
// Everything else is passed on byte by byte.
//
// # Stack traces
//
// With a mapping of R8 they are retraced as by [r8.Stack], also in a JSON string
// whose lines are divided by \n. Names of the method mapping are original ones
// already, and not translated.
package symbolize
