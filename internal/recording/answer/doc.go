// Package answer writes what package analysis finds, for people and for programs.
//
// [Screen] writes what matters most of any recordings in 60 lines. [Text] and [JSON] write stalls as they come.
// [Methods] sums up all calls by method, over all recordings, and writes a table of them; [Calls] merges them by path,
// and writes a tree. [Methods.Suggest] returns the methods that the next build need not trace, as rules for
// tracegen.yml. [WriteTrace] writes what the stacks of all threads show.
package answer
