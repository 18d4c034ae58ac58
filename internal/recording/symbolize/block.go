package symbolize

import (
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// block is lines that are records or blank, held back until it is decided whether they belong to a report.
type block struct {
	*foreign.Block
	lines []blockLine
}

type blockLine struct {
	text, end string
	id        int64 // 0 if the line is blank
	length    int   // of the record
}

// inBlock takes a line that belongs to a block, or may begin one.
func (c *copier) inBlock(text, end string) bool {
	l := blockLine{text: text, end: end}
	trimmed := strings.TrimRight(text, " \t")
	r, n := foreign.CutRecord(trimmed)
	whole := n > 0 && n == len(trimmed)
	blank := strings.TrimSpace(text) == ""
	switch {
	case whole && c.block == nil:
		b := foreign.NewBlock(r, c.announced, c.known)
		if b == nil {
			return false
		}
		c.block = &block{Block: b}
		c.announced, c.table = false, false
	case !whole && !(blank && c.block != nil):
		return false
	}
	if whole {
		l.id, l.length = r.ID, n
		c.block.Add(r)
	} else {
		c.block.AddBlank()
	}
	c.block.lines = append(c.block.lines, l)
	if c.block.Ready() {
		c.decide()
	}
	return true
}

func (c *copier) known(id int64) bool {
	_, ok := c.Mapping.ByID(uint32(id))
	return ok
}

// endBlock ends the block, if there is one.
func (c *copier) endBlock() {
	if c.block != nil {
		c.decide()
		c.block = nil
	}
}

// decide writes the lines that were held back, with names if they are records of a report.
func (c *copier) decide() {
	records := c.block.Decide()
	for _, l := range c.block.lines {
		if l.id == 0 || !records {
			c.out.Write(c.retraced(l.text, l.end))
			continue
		}
		c.out.WriteString(l.text[:l.length] + c.field(l.id) + l.text[l.length:] + l.end)
	}
	c.block.lines = c.block.lines[:0]
}
