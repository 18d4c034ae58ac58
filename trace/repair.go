package trace

import (
	"math/bits"
	"slices"
)

// An exit that is not the innermost call's may mean that exits before it are missing (an exception went by), that it is
// stray (its entry is missing, or it was an entry), that it is the innermost call's under another ID, that it and the
// next have changed places, or that its entry was lost in a gap. Each of these is tried on the records that follow, as
// far as they are held: until calls end that were open before, which shows who is right. The one that leaves the
// least to be mended is taken.

const (
	// What it costs to assume something, in no unit.
	costStray     = 4
	costRenamed   = 4
	costSwapped   = 3
	costTruncated = 1
	costMissing   = 3 // and one for each exit, up to
	costMissings  = 12

	// evidence is how many calls that were open must end until the records behind are no longer of interest.
	evidence = 4
	// splits is how often a trial tries both.
	splits = 2
	// leastAhead is how many records are always looked at; more are as long as there are few that need it.
	leastAhead  = 32
	creditEach  = 16
	creditLimit = 1 << 20
	creditFirst = 1 << 14
	// nearTimes is how many records a time is compared with.
	nearTimes = 16
)

// costMissed is what it costs to assume that n exits are missing at one place.
func costMissed(n int) int {
	if n == 0 {
		return 0
	}
	return min(costMissing+n, costMissings)
}

// ahead gives the index behind the held records that tell what the one before from means; whether they tell it is
// clear.
func (t *thread) ahead(from int) (to int, clear bool) {
	t.credit = min(t.credit+creditEach*int(min(t.number-t.weighed, creditLimit)), creditLimit)
	t.weighed = t.number
	end := min(len(t.held), from+max(leastAhead, t.credit/4))
	if len(t.gaps) > 0 {
		end = min(end, max(from, t.gaps[0].at))
	}
	level := 0
	for to = from; to < end && level > -evidence; to++ {
		r := t.held[to]
		if r.Entry() {
			level++
			if r.ID() == MethodDispatch {
				clear = true
				to++
				break
			}
			continue
		}
		level--
		clear = clear || level < 0
	}
	t.credit = max(0, t.credit-4*(to-from))
	return to, clear
}

// trial gives what it would cost to go on with records if only the first depth of the open calls were open.
func (t *thread) trial(depth int, records []Record) int {
	if t.pushed == nil {
		t.pushed = make([]Method, 0, heldBack)
	}
	return t.tryOn(depth, t.pushed, records, splits)
}

// tryOn is a trial that has pushed calls upon those that were open.
func (t *thread) tryOn(depth int, pushed []Method, records []Record, splits int) int {
	cost := 0
	for i, r := range records {
		m := Method(r.ID())
		k := len(pushed)
		switch {
		case r.Entry():
			if m == MethodDispatch {
				cost += costMissed(depth + k)
				depth, pushed = 0, pushed[:0]
			}
			pushed = append(pushed, m)
		case k > 0 && pushed[k-1] == m:
			pushed = pushed[:k-1]
		case k == 0 && depth > 0 && t.open[depth-1].method == m:
			depth--
		case k == 0 && t.scope.on && depth == t.scope.depth:
			cost += costTruncated
		default:
			over := t.passedOver(depth, pushed, m)
			if over > 0 && splits > 0 {
				stray := costStray + t.tryOn(depth, slices.Clone(pushed), records[i+1:], splits-1)
				stay := max(0, k-over)
				missed := costMissed(1) + t.tryOn(depth-(over-(k-stay)), pushed[:stay], records[i+1:], splits-1)
				return cost + min(stray, missed)
			}
			if over > 0 {
				stay := max(0, k-over)
				depth, pushed = depth-(over-(k-stay)), pushed[:stay]
			}
			// A missing exit costs the same.
			cost += costStray
		}
	}
	return cost
}

// passedOver gives how many of the innermost calls an exit of m ends in a trial that is not the innermost one's: 2 if its
// call's last one lacks its exit, 3 if the exit of that has become an entry; 0 if m is not near. Farther ones are left
// alone: their exit is taken as stray, which costs less and leaves open what others may end.
func (t *thread) passedOver(depth int, pushed []Method, m Method) int {
	inner := func(k int) Method {
		if k < len(pushed) {
			return pushed[len(pushed)-1-k]
		}
		return t.open[depth-1-(k-len(pushed))].method
	}
	switch n := depth + len(pushed); {
	case n > 1 && inner(1) == m:
		return 2
	case n > 2 && inner(2) == m && inner(0) == inner(1):
		return 3
	}
	return 0
}

// guess is what an exit may mean that is not the innermost call's.
type guess int

const (
	guessStray guess = iota
	guessMissing
	guessRenamed
	guessTruncated
)

// mend deals with an exit that is not the innermost call's: held[i], of method m. It tells whether to look again, as
// held[i] is another one now.
func (t *thread) mend(i int, m Method, marks Marks) (again bool) {
	at := t.find(m)
	to, clear := t.ahead(i + 1)
	g, cost := t.likely(m, at), costMissings
	if clear {
		g, cost = t.weigh(m, at, t.held[i+1:to])
	}
	if to > i+1 && t.held[i].Ticks() == t.held[i+1].Ticks() && costSwapped < cost {
		t.held[i], t.held[i+1] = t.held[i+1], t.held[i]
		if costSwapped+t.trial(len(t.open), t.held[i:to]) < cost {
			t.segment.Repairs.Swapped++
			return true
		}
		t.held[i], t.held[i+1] = t.held[i+1], t.held[i]
	}
	switch g {
	case guessStray:
		t.segment.Repairs.Stray++
	case guessMissing:
		t.unwind(at + 1)
		t.close(marks)
	case guessRenamed:
		t.segment.Repairs.Renamed++
		t.close(marks)
	case guessTruncated:
		t.unwind(t.scope.depth)
		t.truncate(m, marks)
	}
	return false
}

// likely is what an exit means as long as nothing else is known: m is open at the given place, or nowhere.
func (t *thread) likely(m Method, at int) guess {
	top := len(t.open)
	switch {
	case at >= 0:
		return guessMissing
	case t.scope.on && top == t.scope.depth:
		return guessTruncated
	case top > 0 && bits.OnesCount32(uint32(m^t.open[top-1].method)) == 1:
		return guessRenamed
	}
	return guessStray
}

// weigh tells what costs least, given the records behind the exit, and what that is.
func (t *thread) weigh(m Method, at int, records []Record) (best guess, cost int) {
	top := len(t.open)
	best, cost = guessStray, costStray+t.trial(top, records)
	better := func(g guess, c int) {
		if c < cost || c == cost && g == t.likely(m, at) {
			best, cost = g, c
		}
	}
	if top > 0 {
		better(guessRenamed, costRenamed+t.trial(top-1, records))
	}
	if t.scope.on {
		better(guessTruncated, costTruncated+costMissed(top-t.scope.depth)+t.trial(t.scope.depth, records))
	}
	if at >= 0 {
		missing := top - 1 - at
		if missing == 2 && t.open[top-1].method == t.open[top-2].method {
			missing = 1 // see passedOver
		}
		c := costMissed(missing)
		if t.scope.on && at < t.scope.depth {
			// The exits are missing because of the gap.
			c = costTruncated + costMissed(top-t.scope.depth)
		}
		better(guessMissing, c+t.trial(at, records))
	}
	return best, cost
}

// unwind ends all but the first open calls, whose exits are missing.
func (t *thread) unwind(depth int) {
	for len(t.open) > depth {
		t.close(MarkUnwound)
		t.segment.Repairs.Unwound++
	}
}

// bogusDispatch tells whether held[i], a dispatch while another is open, is none: what was open goes on behind it.
func (t *thread) bogusDispatch(i int) bool {
	to, clear := t.ahead(i + 1)
	return clear && costStray+t.trial(len(t.open), t.held[i+1:to]) < costMissed(len(t.open))+t.trial(0, t.held[i:to])
}

// retime gives held[i] a time that can be: it is before the last one, or behind the next. The record may have changed
// places with the next.
func (t *thread) retime(i int) (ticks int64, marks Marks) {
	if t.exchanged(i) {
		t.held[i], t.held[i+1] = t.held[i+1], t.held[i]
		t.segment.Repairs.Swapped++
	}
	ticks = t.held[i].Ticks()
	if ticks >= t.last && t.fits(i) {
		return ticks, 0
	}
	t.segment.Repairs.Retimed++
	if behind := t.held[i+1 : min(len(t.held), i+nearTimes)]; ticks < t.last && 2*inOrder(behind, t.last) < inOrder(behind, ticks) {
		// The last one was wrong, and taken for right. What follows keeps its distances, and comes behind it.
		t.shift += t.last - ticks
		return ticks, MarkRetimed
	}
	if ticks < t.last {
		return t.last, MarkRetimed
	}
	// As near to what it says as the next ones let it be.
	for _, r := range t.held[min(i+1, len(t.held)):min(i+3, len(t.held))] {
		ticks = min(ticks, r.Ticks())
	}
	return max(ticks, t.last, 0), MarkRetimed
}

// exchanged tells whether held[i] and the next one fit better the other way round.
func (t *thread) exchanged(i int) bool {
	if i+1 >= len(t.held) || len(t.gaps) > 0 && t.gaps[0].at <= i+1 {
		return false
	}
	first, second := t.held[i], t.held[i+1]
	if second.Ticks() < t.last || first.Ticks() <= second.Ticks() || i+2 < len(t.held) && t.held[i+2].Ticks() < first.Ticks() {
		return false
	}
	to, _ := t.ahead(i)
	if to < i+2 {
		return false
	}
	asIs := t.trial(len(t.open), t.held[i:to])
	t.held[i], t.held[i+1] = second, first
	swapped := t.trial(len(t.open), t.held[i:to])
	t.held[i], t.held[i+1] = first, second
	return swapped < asIs
}

// fits tells whether the time of held[i], which is not before the last, fits to those behind it: whether more of them
// are in order with it than without it.
func (t *thread) fits(i int) bool {
	ticks := t.held[i].Ticks()
	behind := t.held[i+1 : min(len(t.held), i+nearTimes)]
	if len(behind) == 0 {
		return t.last < 0 || ticks-t.last <= t.longest
	}
	return 1+inOrder(behind, ticks) > inOrder(behind, t.last)
}

// inOrder gives how many of a few records, at most, are in order and not before a time.
func inOrder(records []Record, from int64) (most int) {
	var length [nearTimes]int
	for k, r := range records {
		if r.Ticks() < from {
			continue
		}
		length[k] = 1
		for j := range k {
			if length[j] > 0 && records[j].Ticks() <= r.Ticks() {
				length[k] = max(length[k], length[j]+1)
			}
		}
		most = max(most, length[k])
	}
	return most
}
