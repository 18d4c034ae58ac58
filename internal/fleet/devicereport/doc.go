// Package devicereport reads the reports that devices send: one JSON object (RFC 8259) for one stall or incident.
//
//	one line of a body ─► Parse ─► *Report, whose fields have been checked
//
// A report comes from a device that may be damaged, old, newer than this program, or malicious. So [Parse] is stricter
// than package encoding/json: it refuses text that is no UTF-8, a key that an object has twice, objects that are nested
// deeper than [MaxDepth], numbers of more than [MaxNumber] characters, and names that could be taken for paths. It
// ignores fields that it does not have: a later version of the runtime may write more. A value that the device did not
// know is absent; Parse does not put another one in its place.
//
// [Parse] separates two kinds of errors. An [*InvalidError] is about a report whose ID could be read: a receiver
// refuses this report alone. Any other error is about text that is no report.
package devicereport
