package zipfile

import (
	"cmp"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// localsPerTask is the number of entries whose local headers one goroutine reads. There is one header on nearly every
// page of an archive of classes, so that reading them is mostly waiting for the system to map pages.
const localsPerTask = 1024

// parseLocals reads the local header of every entry, compares it with the central record and checks
// that no byte belongs to two entries.
func (a *Archive) parseLocals() error {
	failures := make([]error, (len(a.entries)+localsPerTask-1)/localsPerTask)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for task := range failures {
		group.Go(func() error {
			entries := a.entries[task*localsPerTask : min(len(a.entries), (task+1)*localsPerTask)]
			fault := a.Guard(func() { failures[task] = readLocals(entries) })
			failures[task] = cmp.Or(failures[task], fault)
			return nil
		})
	}
	_ = group.Wait() // none of them fails: the error of the first entry counts, whichever was read first
	if err := cmp.Or(failures...); err != nil {
		return err
	}
	a.prefix = a.directory
	order := make([]*Entry, len(a.entries))
	for i := range a.entries {
		order[i] = &a.entries[i]
		a.prefix = min(a.prefix, order[i].head)
	}
	byHead := func(x, y *Entry) int { return cmp.Compare(x.head, y.head) }
	if !slices.IsSortedFunc(order, byHead) {
		slices.SortStableFunc(order, byHead)
	}
	for i := 1; i < len(order); i++ {
		if err := checkNoOverlap(order[i-1], order[i]); err != nil {
			return err
		}
	}
	return nil
}

// readLocals reads the local headers of entries.
func readLocals(entries []Entry) error {
	for i := range entries {
		if err := entries[i].readLocal(); err != nil {
			return err
		}
	}
	return nil
}

// checkNoOverlap returns an error if two entries share bytes. first must not start behind second.
func checkNoOverlap(first, second *Entry) error {
	if first.end <= second.head {
		return nil
	}
	return second.errorf(ErrFormat, second.head,
		"overlaps entry %s, which lies at 0x%x to 0x%x; refusing what may be a zip bomb",
		printable(first.Name), first.head, first.end)
}

// readLocal finds the data of e behind its local header (4.3.7). It fails only if the position of the data is
// uncertain. If the header contradicts the central directory otherwise, the entry can be copied but not read: e.bad
// is the error.
func (e *Entry) readLocal() error {
	a := e.archive
	if u32(a.data, e.head) != localSignature {
		return e.errorf(ErrFormat, e.head, "no local header where the central directory says")
	}
	name := e.head + localSize
	extra := name + int64(u16(a.data, e.head+26))
	e.data = extra + int64(u16(a.data, e.head+28))
	if e.data > a.directory {
		return e.errorf(ErrFormat, e.head, "local header reaches into the central directory")
	}
	if room := uint64(a.directory - e.data); e.CompressedSize > room {
		return e.errorf(ErrFormat, e.head,
			"%d bytes of data where only %d are left before the central directory; cut short?", e.CompressedSize, room)
	}
	e.end = e.data + int64(e.CompressedSize)
	e.bad = e.compareLocal(a.data[name:extra], a.data[extra:e.data])
	return nil
}

// compareLocal returns an error if the local header contradicts the central record, and moves e.end behind the data
// descriptor if there is one.
func (e *Entry) compareLocal(name, extra []byte) error {
	header := e.archive.data[e.head : e.head+localSize]
	flags, method := u16(header, 6), u16(header, 8)
	switch {
	case string(name) != e.Name:
		return e.errorf(ErrFormat, e.head, "local header has the name %s", printable(string(name)))
	case method != e.Method:
		return e.errorf(ErrFormat, e.head, "compression method %d in the local header, %d in the central directory",
			method, e.Method)
	case (flags^e.Flags)&flagEncrypted != 0:
		return e.errorf(ErrFormat, e.head, "local header and central directory disagree on encryption")
	}
	crc := u32(header, 14)
	compressed, size := uint64(u32(header, 18)), uint64(u32(header, 22))
	if compressed == magic32 || size == magic32 {
		if at, to := findExtra(extra, extraZip64); at >= 0 && to-at >= 4+16 {
			size, compressed = u64(extra, at+4), u64(extra, at+12)
		}
	}
	same := crc == e.CRC32 && compressed == e.CompressedSize && size == e.Size
	if flags&flagDescriptor != 0 {
		length := e.descriptor()
		e.end += length
		// Some writers put the sizes into the header, but set the bit and write no descriptor.
		if length == 0 && !same {
			return e.errorf(ErrFormat, e.end, "data descriptor is missing or disagrees with the central directory")
		}
		return nil
	}
	// Zeros contradict nothing: some writers do not fill in the local header after the data.
	if (crc != e.CRC32 && crc != 0) || (compressed != e.CompressedSize && compressed != 0) ||
		(size != e.Size && size != 0) {
		return e.errorf(ErrFormat, e.head,
			"local header says CRC %08x, %d bytes, %d inflated; central directory says %08x, %d, %d",
			crc, compressed, size, e.CRC32, e.CompressedSize, e.Size)
	}
	return nil
}

// descriptor returns the length of the data descriptor behind the data (4.3.9), or 0 if there is none in any of its
// four forms (with or without signature, 32 or 64 bits). The 64-bit forms are tried first: if both sizes are 0,
// they begin like the 32-bit forms.
func (e *Entry) descriptor() int64 {
	data := e.archive.data[e.end:e.archive.directory]
	for _, wide := range []bool{true, false} {
		for _, signed := range []bool{true, false} {
			if n := e.descriptorForm(data, wide, signed); n > 0 {
				return n
			}
		}
	}
	return 0
}

// descriptorForm returns the length of the data descriptor at the start of data if it has that form and agrees with
// the central record, else 0.
func (e *Entry) descriptorForm(data []byte, wide, signed bool) int64 {
	length, at := int64(12), int64(0)
	if wide {
		length += 8
	}
	if signed {
		length, at = length+4, 4
	}
	if int64(len(data)) < length || signed && u32(data, 0) != descriptorSignature || u32(data, at) != e.CRC32 {
		return 0
	}
	var compressed, size uint64
	if wide {
		compressed, size = u64(data, at+4), u64(data, at+12)
	} else {
		compressed, size = uint64(u32(data, at+4)), uint64(u32(data, at+8))
	}
	if compressed != e.CompressedSize || size != e.Size {
		return 0
	}
	return length
}
