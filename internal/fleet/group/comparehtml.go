package group

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"
)

// pageData is what the page of a comparison is made of. Lists about frames have one element for each, in the order of
// [Frames].
type pageData struct {
	Title    string    `json:"title"` // the versions
	Unit     Unit      `json:"unit"`
	Old      string    `json:"old"`
	New      string    `json:"new"`
	Few      bool      `json:"few"` // too few units to rule out chance
	Labels   []string  `json:"labels"`
	Parent   []int     `json:"parent"`
	Label    []int     `json:"label"`
	OldTotal []int64   `json:"oldTotal"`
	NewTotal []int64   `json:"newTotal"`
	OldSelf  []int64   `json:"oldSelf"`
	NewSelf  []int64   `json:"newSelf"`
	OldCalls []float64 `json:"oldCalls"`
	NewCalls []float64 `json:"newCalls"`
	Hidden   int       `json:"hidden"`
	// Sure is for each label whether a change of its own time is significant.
	Sure   []bool       `json:"sure"`
	Slower []pageChange `json:"slower"`
	Faster []pageChange `json:"faster"`
	// Noise are the methods whose change is not significant, the greatest first; NoiseCount is how many there are.
	Noise      []pageChange `json:"noise"`
	NoiseCount int          `json:"noiseCount"`
}

// pageChange is a row of the list of methods.
type pageChange struct {
	Label string `json:"label"`
	Text  string `json:"text"`
	Delta string `json:"delta"`
	// Sure is whether the change is significant, Certainty says how certain it is for people.
	Sure      bool   `json:"sure"`
	Certainty string `json:"certainty"`
}

// WriteHTML writes the comparison as a page: a flame graph of both samples together. It needs [Sample.Paths]. The page
// is one file, and opening it makes no request. top is how many methods its lists have, 0 for all.
func (c *Comparison) WriteHTML(w io.Writer, top int) error {
	d := pageData{Unit: c.Unit, Old: c.Old.text(c.Unit), New: c.New.text(c.Unit),
		Few: c.Old.Units < LeastUnits || c.New.Units < LeastUnits, Slower: []pageChange{}, Faster: []pageChange{}}
	if from, to := c.Old.Last, c.New.Last; from != to && from != "" && to != "" {
		d.Title = from + " and " + to + ", compared"
	}
	labels := map[string]int{}
	if c.Frames != nil {
		d.Hidden = c.Frames.Hidden
		for i := range c.Frames.Nodes {
			d.add(&c.Frames.Nodes[i], labels)
		}
	}
	slower, faster, _ := c.sides(false)
	d.Slower, d.Faster = rows(slower, top), rows(faster, top)
	d.setSure(c, labels, top)
	return writePage(w, "compare", d)
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

// setSure says which changes are significant, and lists those that are not.
func (d *pageData) setSure(c *Comparison, labels map[string]int, top int) {
	d.Sure = make([]bool, len(d.Labels))
	var noise []*Change
	for _, m := range c.Changes {
		_, certainty := m.surest()
		if k, shown := labels[strings.TrimPrefix(m.Class+"."+m.Method, ".")]; shown {
			d.Sure[k] = d.Sure[k] || certainty == Sure
		}
		if certainty == Noise {
			noise = append(noise, m)
		}
	}
	slices.SortStableFunc(noise, func(a, b *Change) int { return cmp.Compare(math.Abs(b.Delta()), math.Abs(a.Delta())) })
	d.Noise, d.NoiseCount = rows(noise, top), len(noise)
}

func rows(changes []*Change, top int) []pageChange {
	list := []pageChange{}
	for i, m := range changes {
		if i == top && top > 0 {
			break
		}
		delta, certainty := m.surest()
		row := pageChange{Label: strings.TrimPrefix(m.Class+"."+m.Method, "."), Delta: signed(delta),
			Sure: certainty == Sure, Certainty: m.certainty(),
			Text: nanos(m.OldSelf) + " to " + nanos(m.NewSelf) + percent(m.OldSelf, m.NewSelf)}
		if c := m.CPU; c != nil {
			row.Text += ", CPU " + nanos(c.Old) + " to " + nanos(c.New) + percent(c.Old, c.New)
		}
		list = append(list, row)
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
