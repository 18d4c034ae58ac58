// Package threaddump reads the stacks of all threads of a process, as ART writes them in an ANR and HotSpot's jstack
// writes them, and finds which threads wait for locks of each other.
//
// [Parse] returns the processes of a text: a file of Android's system has a section for each. A thread waits for one
// lock at most, and a lock has one holder at most. So [Process.Deadlocks] follows the holders from each thread and
// returns the circles, and [Process.Chain] says where the locks lead that one thread waits for.
//
// The text comes from outside: what is not understood is skipped, and what is kept is bounded.
package threaddump
