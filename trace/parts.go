package trace

import "strconv"

// PartInfo says which part of which recording a file is.
type PartInfo struct {
	// Recording is equal for all parts of a recording, and for those alone.
	Recording string
	// Number counts the parts of a recording from 1.
	Number int
	// First is the number of the first part that was still there when this part was begun: the runtime deletes the
	// oldest parts if there are too many.
	First int
}

// Part returns which part of which recording the file is. ok is false if it does not say.
func (m *Meta) Part() (p PartInfo, ok bool) {
	p.Recording = m.Values["recordingId"]
	number, ok1 := m.number("part")
	first, ok2 := m.number("firstPart")
	p.Number, p.First = int(number), int(first)
	return p, p.Recording != "" && ok1 && ok2 && 1 <= first && first <= number && number <= 1<<30
}

// MissingParts stands where parts of a recording are missing. It is in no file: package source, which reads several
// parts as one recording, puts it where they should be.
type MissingParts struct {
	// From and To are the numbers of the first and the last part that is missing; To is 0 if it is not known how many
	// are missing at the end.
	From, To int
	// Begin is the last time that is known before them, and End the first behind them, in [Clock.NanoTime]. They are
	// equal if parts are missing at the end.
	Begin, End int64
	// Deleted is set if the runtime has deleted them, because there were more files than its limit.
	Deleted bool
}

func (*MissingParts) chunk() {}

// Range returns which parts are missing: "part 2", or "parts 2 to 4".
func (m *MissingParts) Range() string {
	if m.To <= m.From {
		return "part " + strconv.Itoa(m.From)
	}
	return "parts " + strconv.Itoa(m.From) + " to " + strconv.Itoa(m.To)
}
