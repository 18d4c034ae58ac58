// Package record has the command record, which instruments a Java program, runs it, and reports what was slow.
package record
