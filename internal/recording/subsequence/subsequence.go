// Package subsequence finds the longest common subsequence of the names of calls and the names of frames: which of the
// calls a stack shows.
package subsequence

import "slices"

// most is how many pairs of names and frames are compared at most.
const most = 1 << 16

// Lengths returns for each j how long the longest common subsequence of names and frames[j:] is. If there are too
// many, it is that of [lastFrames].
func Lengths(names, frames []int32) []int {
	lengths := make([]int, len(frames)+1)
	if len(names)*len(frames) > most {
		for _, j := range lastFrames(names, frames) {
			if j >= 0 {
				lengths[j]++
			}
		}
		for j := len(frames) - 1; j >= 0; j-- {
			lengths[j] += lengths[j+1]
		}
		return lengths
	}
	// Row by row: with the names from i on.
	before := make([]int, len(frames)+1)
	for i := len(names) - 1; i >= 0; i-- {
		before, lengths = lengths, before
		lengths[len(frames)] = 0
		for j := len(frames) - 1; j >= 0; j-- {
			if names[i] == frames[j] {
				lengths[j] = before[j+1] + 1
			} else {
				lengths[j] = max(before[j], lengths[j+1])
			}
		}
	}
	return lengths
}

// lastFrames returns the frame of each name if each takes the last one that it can, from the last name on; -1 for none.
func lastFrames(names, frames []int32) []int {
	first := map[int32]int{}
	for j, f := range slices.Backward(frames) {
		first[f] = j
	}
	at := make([]int, len(names))
	to := len(frames)
	for i, name := range slices.Backward(names) {
		at[i] = -1
		if j, ok := first[name]; ok && j < to {
			to = LastIndex(frames[:to], name)
			at[i] = to
		}
	}
	return at
}

// Common returns the indices of names in their longest common subsequence with frames, the last names of several. If
// there are too many, it returns those that have a frame by [lastFrames].
func Common(names, frames []int32) (in []int) {
	n, m := len(names), len(frames)
	if n*m > most {
		for i, j := range lastFrames(names, frames) {
			if j >= 0 {
				in = append(in, i)
			}
		}
		return in
	}
	longest := make([]int32, (n+1)*(m+1))
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			if names[i-1] == frames[j-1] {
				longest[i*(m+1)+j] = longest[(i-1)*(m+1)+j-1] + 1
			} else {
				longest[i*(m+1)+j] = max(longest[(i-1)*(m+1)+j], longest[i*(m+1)+j-1])
			}
		}
	}
	for i, j := n, m; i > 0 && j > 0; {
		switch here := longest[i*(m+1)+j]; {
		case longest[i*(m+1)+j-1] == here:
			j--
		case names[i-1] == frames[j-1]:
			in = append(in, i-1)
			i, j = i-1, j-1
		default:
			i--
		}
	}
	return in
}

// LastIndex returns the last index of an item in a list, -1 if there is none.
func LastIndex[T comparable](list []T, item T) int {
	for k := len(list) - 1; k >= 0; k-- {
		if list[k] == item {
			return k
		}
	}
	return -1
}
