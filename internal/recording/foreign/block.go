package foreign

import (
	"slices"

	"github.com/tracegen/tracegen/internal/contract"
)

// enoughRecords is how many records of a block are enough to decide whether its lines are records.
const enoughRecords = 8

// Block decides whether lines that are records or blank, and that are not quoted, belong to a report: four numbers with
// commas are also many other things. They are records if the first has depth 0, if none is deeper than the one before
// by more than [MaxJump], and if they are announced, begin with the dispatch of a message, or have three records or
// more of which half are of known methods and three quarters cost no more than the record that they stand below.
type Block struct {
	known    func(id int64) bool
	records  []Record
	lines    int
	accepted bool
	refused  bool
	last     int64 // depth of the last record
}

// NewBlock begins a block with its first record, which [Block.Add] takes again. announced says that the line before
// promised records, known reports whether a method has that ID. It returns nil if no block begins with that record.
func NewBlock(first Record, announced bool, known func(id int64) bool) *Block {
	if first.Depth != 0 && !announced {
		return nil
	}
	return &Block{known: known, accepted: announced || first.ID == contract.DispatchID, last: first.Depth}
}

// Add takes the next line that is a record.
func (b *Block) Add(r Record) {
	if r.Depth > b.last+MaxJump {
		b.refused = b.refused || !b.accepted
	}
	b.last = r.Depth
	b.records = append(b.records, r)
	b.lines++
}

// AddBlank takes the next line that is blank.
func (b *Block) AddBlank() { b.lines++ }

// Ready reports whether enough lines are there to decide.
func (b *Block) Ready() bool {
	return b.accepted || b.refused || len(b.records) >= enoughRecords || b.lines > 4*enoughRecords
}

// Decide reports whether the lines are records. Later lines of the block are as well if these are.
func (b *Block) Decide() bool {
	if !b.accepted && !b.refused {
		b.accepted = b.likely()
		b.refused = !b.accepted
	}
	b.records, b.lines = b.records[:0], 0
	return !b.refused
}

// likely reports whether records that nothing announces look like a report.
func (b *Block) likely() bool {
	known, fitting := 0, 0
	for i, r := range b.records {
		if b.known(r.ID) {
			known++
		}
		above := slices.IndexFunc(reversed(b.records[:i]), func(p Record) bool { return p.Depth < r.Depth })
		if above < 0 || r.Cost <= b.records[i-1-above].Cost {
			fitting++
		}
	}
	return len(b.records) >= 3 && 2*known >= len(b.records) && 4*fitting >= 3*len(b.records)
}

func reversed(records []Record) []Record {
	r := slices.Clone(records)
	slices.Reverse(r)
	return r
}
