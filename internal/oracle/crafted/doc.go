// Package crafted has class files for the tests of the two checks, and the ways in which to instrument them.
//
//   - [Class] writes class files that no compiler writes: broken ones, ones of extreme size, ones with every attribute.
//   - [Classes] are such classes, [Committed] those of testdata, [All] both.
//   - A [Mode] is one way to instrument them; [Modes] are all that matter.
package crafted
