package trace

import (
	"math/bits"
	"slices"
)

// An exit that is not the innermost call's has one of these reasons:
//
//   - Exits before it are missing: an exception passed by, or their records are lost.
//   - It is stray: the entry of its call is missing, or was changed into an exit.
//   - It ends the innermost call, under another ID.
//   - It and the next record have changed places.
//   - The entry of its call was lost in a gap.
//
// If each record is as the thread made it, no record was changed, and none has changed places. Then an exit of an
// open call shows that the calls inside it are over, and no other reason is tried: taking one exception for an exchange
// of records makes calls last too long.
//
// Otherwise each reason is tried on the records that follow, up to where calls end that were open before: those show
// which reason is right. The reason that leaves the least to be repaired is taken.

// The costs decide which explanation of the same records is taken: the one whose repairs cost least together. They have
// no unit. They were found by trial, with the tests TestDamagedRecords (10,500 made-up recordings with a known truth)
// and TestRepaired (one damage each). For each cost, the next values below and above are given that fail these tests;
// between them, the tests pass with every value.
const (
	// costStray is the cost of an exit that is left out: one record is damaged. With 3, an exchange of two exits is
	// taken for a stray one; with 5, calls are lost where an entry has become an exit.
	costStray = 4
	// costRenamed is the cost of an exit with another method's ID: one record is damaged, as for a stray one. With 3,
	// it is taken where an entry has become an exit. With 5, no test fails.
	costRenamed = 4
	// costSwapped is the cost of two records that have changed places. It must be below costStray, or the exchange is
	// not found. With 2, no test fails.
	costSwapped = 3
	// costTruncated is the cost of an exit whose entry was lost in a gap: next to nothing, as records are known to be
	// missing. With 0 to 3, no test fails.
	costTruncated = 1
	// costMissing is the cost of exits that are missing at one place, and 1 is added for each of them: one missing exit
	// costs as much as one damaged record. With 2, calls are lost where an entry has become an exit; with 4, a dispatch
	// without an end is not found. costMissings is the most for one place: an exception leaves any number of calls at
	// once. With 8 and with 20, no test fails.
	costMissing  = 3
	costMissings = 12

	// evidence is how many calls that were open must end until the records behind them no longer count. With 2, calls
	// are lost in TestDamagedRecords; with 8, no test fails.
	evidence = 4
	// splits is how often a trial tries both of two explanations. With 0, calls are lost; with 1, none are in these
	// tests.
	splits = 2
	// leastAhead is how many records a trial may always look ahead. More are paid for from a credit: each record adds
	// creditEach to it and each record looked ahead at takes 4 of it. So the time of a replay stays proportional to the
	// number of records, whatever is in them.
	leastAhead  = 32
	creditEach  = 16
	creditLimit = 1 << 20
	creditFirst = 1 << 14
	// nearTimes is how many records a time is compared with.
	nearTimes = 16
)

// costMissed returns what it costs to assume that n exits are missing at one place.
func costMissed(n int) int {
	if n == 0 {
		return 0
	}
	return min(costMissing+n, costMissings)
}

// ahead returns the index behind the held records that show what the record before index from means. clear is false if
// there are too few of them to decide.
func (r *repairer) ahead(from int) (to int, clear bool) {
	r.credit = min(r.credit+creditEach*int(min(r.number-r.weighed, creditLimit)), creditLimit)
	r.weighed = r.number
	end := min(len(r.held), from+max(leastAhead, r.credit/4))
	if len(r.gaps) > 0 {
		end = min(end, max(from, r.gaps[0].at))
	}
	level := 0
	for to = from; to < end && level > -evidence; to++ {
		record := r.held[to]
		if record.Entry() {
			level++
			if record.ID() == MethodDispatch {
				clear = true
				to++
				break
			}
			continue
		}
		level--
		clear = clear || level < 0
	}
	r.credit = max(0, r.credit-4*(to-from))
	return to, clear
}

// trial returns what it costs to go on with records if only the first depth of the open calls were open.
func (r *repairer) trial(depth int, records []Record) int {
	if r.pushed == nil {
		r.pushed = make([]Method, 0, heldBack)
	}
	return r.tryOn(depth, r.pushed, records, splits)
}

// tryOn is a trial in which pushed calls have been entered above the open ones.
func (r *repairer) tryOn(depth int, pushed []Method, records []Record, splits int) int {
	cost := 0
	for i, record := range records {
		m := Method(record.ID())
		k := len(pushed)
		switch {
		case record.Entry():
			if m == MethodDispatch {
				cost += costMissed(depth + k)
				depth, pushed = 0, pushed[:0]
			}
			pushed = append(pushed, m)
		case k > 0 && pushed[k-1] == m:
			pushed = pushed[:k-1]
		case k == 0 && depth > 0 && r.open[depth-1].method == m:
			depth--
		case k == 0 && r.scope.on && depth == r.scope.depth:
			cost += costTruncated
		case k == 0 && depth > 1 && r.open[depth-1].method == MethodNotRecorded:
			if r.open[depth-2].method == m {
				depth -= 2
			} else {
				cost += costTruncated
			}
		default:
			over := r.passedOver(depth, pushed, m)
			if over > 0 && splits > 0 {
				stray := costStray + r.tryOn(depth, slices.Clone(pushed), records[i+1:], splits-1)
				stay := max(0, k-over)
				missed := costMissed(1) + r.tryOn(depth-(over-(k-stay)), pushed[:stay], records[i+1:], splits-1)
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

// passedOver returns how many of the innermost calls an exit of m ends in a trial, where m is not the innermost call's:
// 2 if the exit of the innermost call is missing, 3 if that exit has become an entry, and 0 if no call of m is near.
// Farther calls are left alone: their exit is taken as stray, which costs less and leaves open what other exits may
// end.
func (r *repairer) passedOver(depth int, pushed []Method, m Method) int {
	inner := func(k int) Method {
		if k < len(pushed) {
			return pushed[len(pushed)-1-k]
		}
		return r.open[depth-1-(k-len(pushed))].method
	}
	switch n := depth + len(pushed); {
	case n > 1 && inner(1) == m:
		return 2
	case n > 2 && inner(2) == m && inner(0) == inner(1):
		return 3
	}
	return 0
}

// guess is a reason for an exit that is not the innermost call's.
type guess int

const (
	guessStray guess = iota
	guessMissing
	guessRenamed
	guessTruncated
)

// likely returns the guess about an exit of m as long as no later record decides. m is open at the index at, or nowhere
// if at is -1.
func (r *repairer) likely(m Method, at int) guess {
	top := len(r.open)
	switch {
	case at >= 0:
		return guessMissing
	case r.scope.on && top == r.scope.depth:
		return guessTruncated
	case top > 0 && !r.limits.exact && !(r.scope.on && top == r.scope.depth) &&
		bits.OnesCount32(uint32(m^r.open[top-1].method)) == 1:
		return guessRenamed
	}
	return guessStray
}

// weigh returns the guess that costs least, given the records behind the exit, and its cost.
func (r *repairer) weigh(m Method, at int, records []Record) (best guess, cost int) {
	top := len(r.open)
	best, cost = guessStray, costStray+r.trial(top, records)
	better := func(g guess, c int) {
		if c < cost || c == cost && g == r.likely(m, at) {
			best, cost = g, c
		}
	}
	if top > 0 && r.open[top-1].method != MethodNotRecorded && !(r.scope.on && top == r.scope.depth) {
		better(guessRenamed, costRenamed+r.trial(top-1, records))
	}
	if r.scope.on {
		better(guessTruncated, costTruncated+costMissed(top-r.scope.depth)+r.trial(r.scope.depth, records))
	}
	if at >= 0 {
		missing := r.recordedCalls(at+1, top)
		if missing == 2 && r.open[top-1].method == r.open[top-2].method {
			missing = 1 // see passedOver
		}
		c := costMissed(missing)
		if r.scope.on && at < r.scope.depth {
			// The exits are missing because of the gap.
			c = costTruncated + costMissed(top-r.scope.depth)
		}
		better(guessMissing, c+r.trial(at, records))
	}
	return best, cost
}
