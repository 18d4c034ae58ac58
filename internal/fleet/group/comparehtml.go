package group

import (
	"embed"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed html
var pageFiles embed.FS

// pageData is what the page of a comparison is made of. Lists about frames have one element for each, in the order of
// [Frames].
type pageData struct {
	Unit     Unit         `json:"unit"`
	Old      string       `json:"old"`
	New      string       `json:"new"`
	Few      bool         `json:"few"` // too few units to rule out chance
	Labels   []string     `json:"labels"`
	Parent   []int        `json:"parent"`
	Label    []int        `json:"label"`
	OldTotal []int64      `json:"oldTotal"`
	NewTotal []int64      `json:"newTotal"`
	OldSelf  []int64      `json:"oldSelf"`
	NewSelf  []int64      `json:"newSelf"`
	OldCalls []float64    `json:"oldCalls"`
	NewCalls []float64    `json:"newCalls"`
	Hidden   int          `json:"hidden"`
	Slower   []pageChange `json:"slower"`
	Faster   []pageChange `json:"faster"`
}

// pageChange is a row of the list of methods.
type pageChange struct {
	Label string `json:"label"`
	Text  string `json:"text"`
	Delta string `json:"delta"`
}

// WriteHTML writes the comparison as a page: a flame graph of both samples together. It needs [Sample.Paths]. The page
// is one file, and opening it makes no request. top is how many methods its lists have, 0 for all.
func (c *Comparison) WriteHTML(w io.Writer, top int) error {
	d := pageData{Unit: c.Unit, Old: c.Old.text(c.Unit), New: c.New.text(c.Unit),
		Few: c.Old.Units < LeastUnits || c.New.Units < LeastUnits, Slower: []pageChange{}, Faster: []pageChange{}}
	labels := map[string]int{}
	if c.Frames != nil {
		d.Hidden = c.Frames.Hidden
		for i := range c.Frames.Nodes {
			d.add(&c.Frames.Nodes[i], labels)
		}
	}
	slower, faster, _ := c.sides(false)
	d.Slower, d.Faster = rows(slower, top), rows(faster, top)
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	page, err := pageFiles.ReadFile("html/compare.html")
	if err != nil {
		return err
	}
	text := string(page)
	for _, name := range []string{"compare.css", "compare.js"} {
		part, err := pageFiles.ReadFile("html/" + name)
		if err != nil {
			return err
		}
		text = strings.Replace(text, "{{"+name+"}}", string(part), 1)
	}
	// Last: names of methods may look like a place of the template. encoding/json has escaped all tags.
	_, err = io.WriteString(w, strings.Replace(text, "{{data}}", string(data), 1))
	return err
}

func (d *pageData) add(f *Frame, labels map[string]int) {
	text := strings.TrimPrefix(f.Class+"."+f.Method, ".")
	if f.Parent < 0 {
		text = "all"
	}
	label, known := labels[text]
	if !known {
		label = len(d.Labels)
		labels[text] = label
		d.Labels = append(d.Labels, text)
	}
	round := func(n float64) int64 { return int64(math.Round(n)) }
	d.Parent, d.Label = append(d.Parent, f.Parent), append(d.Label, label)
	d.OldTotal, d.NewTotal = append(d.OldTotal, round(f.Old)), append(d.NewTotal, round(f.New))
	d.OldSelf, d.NewSelf = append(d.OldSelf, round(f.OldSelf)), append(d.NewSelf, round(f.NewSelf))
	calls := func(n float64) float64 { return math.Round(1e4*n) / 1e4 }
	d.OldCalls, d.NewCalls = append(d.OldCalls, calls(f.OldCalls)), append(d.NewCalls, calls(f.NewCalls))
}

func rows(changes []*Change, top int) []pageChange {
	list := []pageChange{}
	for i, m := range changes {
		if i == top && top > 0 {
			break
		}
		list = append(list, pageChange{Label: strings.TrimPrefix(m.Class+"."+m.Method, "."), Delta: signed(m.Delta()),
			Text: nanos(m.OldSelf) + " to " + nanos(m.NewSelf) + percent(m.OldSelf, m.NewSelf)})
	}
	return list
}

// sides returns the methods that became slower and those that became faster, in the order of [Comparison.WriteText].
// Those whose change may be chance are counted, and left out unless all is set.
func (c *Comparison) sides(all bool) (slower, faster []*Change, noise int) {
	for _, m := range c.Changes {
		switch delta, certainty := m.surest(); {
		case certainty == Noise && !all:
			noise++
		case delta > 0:
			slower = append(slower, m)
		case delta < 0:
			faster = append(faster, m)
		}
	}
	slices.Reverse(faster)
	return slower, faster, noise
}
