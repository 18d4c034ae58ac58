package artifact

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errProfile is what all errors about a baseline profile wrap.
var errProfile = errors.New("not a baseline profile that can be read")

// profileHead is how the compiled profile begins that Android's plugin writes, the format of Android 9.
const profileHead = "pro\x00010\x00"

// maxProfile is the size in bytes above which a profile is not inflated. One of 1.5 MB has much less.
const maxProfile = 64 << 20

// Profile is a compiled baseline profile.
type Profile struct {
	// Bytes is its size.
	Bytes int
	// Methods and Classes are how many it names.
	Methods, Classes int

	lines []profileLine
}

// profileLine is what a profile says about one dex file.
type profileLine struct {
	name     string
	checksum uint32 // CRC-32 of the dex file
	methods  []bool // by the number of a method in the dex file
	hot      int    // bytes of the hot methods
	classes  int
}

// parseProfile reads a compiled profile: a header, and deflated a line for each dex file and then the data of each.
func parseProfile(data string) (*Profile, error) {
	r := reader{data: data}
	if head := r.bytes(len(profileHead)); head != profileHead {
		return nil, fmt.Errorf("%w: it does not begin as one of format 010", errProfile)
	}
	p := &Profile{Bytes: len(data), lines: make([]profileLine, r.number(1))}
	size := r.number(4)
	r.number(4) // deflated
	if r.short || size > maxProfile {
		return nil, fmt.Errorf("%w: its size is %d", errProfile, size)
	}
	inflated, err := zlib.NewReader(strings.NewReader(data[r.at:]))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	body, err := io.ReadAll(io.LimitReader(inflated, int64(size)+1))
	if err != nil || len(body) != size {
		return nil, fmt.Errorf("%w: %d bytes inflate instead of %d", errProfile, len(body), size)
	}
	r = reader{data: string(body)}
	for i := range p.lines {
		p.lines[i] = r.profileLine()
	}
	for i := range p.lines {
		r.profileData(&p.lines[i])
		p.Classes += p.lines[i].classes
		for _, is := range p.lines[i].methods {
			if is {
				p.Methods++
			}
		}
	}
	if r.short || r.at != len(body) {
		return nil, fmt.Errorf("%w: its tables do not fit to its size", errProfile)
	}
	return p, nil
}

func (r *reader) profileLine() profileLine {
	nameBytes, classes, hot := r.number(2), r.number(2), r.number(4)
	line := profileLine{classes: classes, hot: hot, checksum: uint32(r.number(4))}
	methods := r.number(4)
	line.name = r.bytes(nameBytes)
	// A dex file has 65,536 methods at most, and there are two bits for each.
	if methods > 1<<16 || methods/4 > len(r.data)-r.at {
		r.short, methods = true, 0
	}
	line.methods = make([]bool, methods)
	return line
}

// profileData reads the hot methods, the classes, and a bit for each method that is used at the start and later.
func (r *reader) profileData(line *profileLine) {
	hot := reader{data: r.bytes(line.hot)}
	for method := 0; hot.at < len(hot.data); {
		method += hot.number(2)
		for caches := hot.number(2); caches > 0 && !hot.short; caches-- {
			hot.inlineCache()
		}
		r.note(line, method)
	}
	r.short = r.short || hot.short
	r.bytes(2 * line.classes)
	methods := len(line.methods)
	bits := r.bytes((2*methods + 7) / 8)
	for i := range 8 * len(bits) {
		if bits[i/8]>>(i%8)&1 != 0 {
			r.note(line, i%max(methods, 1))
		}
	}
}

func (r *reader) note(line *profileLine, method int) {
	if method >= len(line.methods) {
		r.short = true
		return
	}
	line.methods[method] = true
}

// inlineCache skips the classes that were seen at a call: of each dex file, or a number that stands for too many.
func (r *reader) inlineCache() {
	const missingTypes, megamorphic = 6, 7
	r.number(2)
	files := r.number(1)
	if files == missingTypes || files == megamorphic {
		return
	}
	for range files {
		r.number(1)
		r.bytes(2 * r.number(1))
	}
}
