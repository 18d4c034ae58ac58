package trace

// nearTimes is how many records a time is compared with.
const nearTimes = 16

// retime returns a possible time for held[i], whose own time is before the last one or behind the next.
func (r *repairer) retime(i int) (ticks int64, marks Marks) {
	ticks = r.held[i].Ticks()
	if ticks >= r.last && r.fits(i) {
		return ticks, 0
	}
	r.repaired(repairRetimed, 1)
	if ticks < r.last {
		return r.last, MarkRetimed
	}
	// As near to what it says as the next ones let it be.
	for _, record := range r.held[min(i+1, len(r.held)):min(i+3, len(r.held))] {
		ticks = min(ticks, record.Ticks())
	}
	return max(ticks, r.last, 0), MarkRetimed
}

// fits reports whether the time of held[i], which is not before the last one, fits the times behind it: whether more of
// them are in order with it than without it.
func (r *repairer) fits(i int) bool {
	ticks := r.held[i].Ticks()
	behind := r.held[i+1 : min(len(r.held), i+nearTimes)]
	if len(behind) == 0 {
		return r.last < 0 || ticks-r.last <= r.far
	}
	return 1+inOrder(behind, ticks) > inOrder(behind, r.last)
}

// inOrder returns how many of a few records, at most, are in order and not before a time.
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
