package symbolize

import (
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/matrix"
	"github.com/tracegen/tracegen/mapping"
)

// block is a run of lines that are records or blank.
type block struct {
	lines    []blockLine     // held back until it is judged
	records  []matrix.Record // those of lines
	accepted bool
	refused  bool
	last     int64 // depth of the last record
}

type blockLine struct {
	text, end string
	id        int64 // 0 if the line is blank
	length    int   // of the record
}

// inBlock takes a line that belongs to a block, or may begin one.
func (c *copier) inBlock(text, end string) bool {
	l := blockLine{text: text, end: end}
	r, n := matrix.CutRecord(strings.TrimRight(text, " \t"))
	whole := n > 0 && n == len(strings.TrimRight(text, " \t"))
	blank := strings.TrimSpace(text) == ""
	switch {
	case whole && c.block == nil:
		if r.Depth != 0 && !c.announced {
			return false
		}
		c.block = &block{accepted: c.announced || r.ID == mapping.DispatchID}
		c.announced, c.table = false, false
	case whole && r.Depth > c.block.last+matrix.MaxJump:
		c.block.refused = c.block.refused || !c.block.accepted
	case !whole && !(blank && c.block != nil):
		return false
	}
	b := c.block
	if whole {
		l.id, l.length, b.last = r.ID, n, r.Depth
		b.records = append(b.records, r)
	}
	b.lines = append(b.lines, l)
	if b.accepted || b.refused || len(b.records) >= judged || len(b.lines) > 4*judged {
		c.judge()
	}
	return true
}

// settle ends the block, if there is one.
func (c *copier) settle() {
	if c.block != nil {
		c.judge()
		c.block = nil
	}
}

// judge decides whether the block is one of records, unless that was done, and
// passes on what was held back.
func (c *copier) judge() {
	b := c.block
	if !b.accepted && !b.refused {
		b.accepted = c.likely(b.records)
		b.refused = !b.accepted
	}
	for _, l := range b.lines {
		if l.id == 0 || b.refused {
			c.out.Write(c.retraced(l.text, l.end))
			continue
		}
		c.out.WriteString(l.text[:l.length] + c.field(l.id) + l.text[l.length:] + l.end)
	}
	b.lines, b.records = b.lines[:0], b.records[:0]
}

// likely reports whether records that nothing announces look like a report.
func (c *copier) likely(records []matrix.Record) bool {
	known, fitting := 0, 0
	for i, r := range records {
		if _, ok := c.Mapping.ByID(uint32(r.ID)); ok {
			known++
		}
		above := slices.IndexFunc(reversed(records[:i]), func(p matrix.Record) bool { return p.Depth < r.Depth })
		if above < 0 || r.Cost <= records[i-1-above].Cost {
			fitting++
		}
	}
	return len(records) >= 3 && 2*known >= len(records) && 4*fitting >= 3*len(records)
}

func reversed(records []matrix.Record) []matrix.Record {
	r := slices.Clone(records)
	slices.Reverse(r)
	return r
}
