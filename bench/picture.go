package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The picture's measures, in pixels.
const (
	pictureWidth = 880
	labelWidth   = 196 // of the names at the left
	barHeight    = 16
	barStep      = 24
	wallWidth    = 330 // of the longest bar of wall time
	memoryLeft   = 640 // where bars of memory begin
	memoryWidth  = 170
	titleHeight  = 56 // above the bars of an input
	gapHeight    = 22 // below them
)

// pictureStyle adapts to a light or dark page; there is no background behind the text.
const pictureStyle = `
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.value { font-size: 12px }
.other { fill: #a5afba }
.own { fill: #1f7a4d }
.floor { fill: #6e7781 }
.line { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.other { fill: #545d68 }
.own { fill: #3fb950 }
.floor { fill: #8b949e }
.line { stroke: #ff7b72 }
}
`

// printPicture draws the wall time and peak memory of the shown rows, with a line for the floor.
func (r *record) printPicture(w io.Writer) {
	var b strings.Builder
	top := 8
	for _, input := range r.shownInputs() {
		if rows, names := r.shownRows(input); len(rows) > 0 {
			top = drawInput(&b, top, input, rows, names)
		}
	}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n",
		pictureWidth, top, pictureWidth, top)
	fmt.Fprintf(w, "<title>Wall time and peak memory of tracegen beside its "+
		"peers</title>\n<style>%s</style>\n%s</svg>\n", pictureStyle, b.String())
}

// drawInput draws one input's two rows of bars from top on and returns where they end.
func drawInput(b *strings.Builder, top int, input string, rows []*row, names []string) int {
	var longest, biggest float64
	for _, r := range rows {
		longest, biggest = max(longest, wallOf(r)), max(biggest, peakOf(r))
	}
	text(b, 8, top+14, "title", fmt.Sprintf("%s: %d classes, %.0f MB", input, rows[0].work.classes,
		float64(rows[0].work.before)/mega))
	text(b, labelWidth, top+38, "small", "wall time, seconds")
	text(b, memoryLeft, top+38, "small", "peak memory, MB")
	first := top + titleHeight - 8
	y := first
	for i, r := range rows {
		class := "other"
		switch r.name {
		case rowTracegen, rowEquivalence:
			class = "own"
		case rowFloor:
			class = "floor"
		}
		text(b, 8, y+13, "", names[i])
		bar(b, labelWidth, y, wallOf(r)/longest*wallWidth, class, figure(wallOf(r)))
		bar(b, memoryLeft, y, peakOf(r)/max(biggest, 1)*memoryWidth, class, fmt.Sprintf("%.0f", peakOf(r)))
		y += barStep
	}
	if rows[0].name == rowFloor {
		line(b, labelWidth+wallOf(rows[0])/longest*wallWidth, first-4, y)
		line(b, memoryLeft+peakOf(rows[0])/max(biggest, 1)*memoryWidth, first-4, y)
	}
	return y + gapHeight
}

func text(b *strings.Builder, x, y int, class, s string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" class="%s">`, x, y, class)
	xml.EscapeText(b, []byte(s))
	b.WriteString("</text>\n")
}

func bar(b *strings.Builder, x, y int, width float64, class, label string) {
	width = max(width, 1)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" class="%s"/>`+"\n", x, y, width, barHeight, class)
	text(b, x+int(width)+6, y+13, "value", label)
}

func line(b *strings.Builder, x float64, from, to int) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" class="line"/>`+"\n", x, from, x, to)
}
