package zipfile

import "bytes"

// directoryEnd has the values of the end of central directory record and of the zip64 records, checked against the
// positions of the records in the file.
type directoryEnd struct {
	start, size   int64  // the central directory in the file
	base          int64  // see Archive.base
	count         uint64 // number of entries
	modulo        bool   // count may be the number modulo 65,536
	comment, tail []byte
}

// findEnd searches for the end of central directory record (4.3.16) from the end of the file backwards, like the
// JDK and other readers: if the archive comment contains bytes that look like an end record, these are tried first.
// Bytes behind the comment are accepted as long as the record leads to a central directory.
func (a *Archive) findEnd() (directoryEnd, error) {
	size := int64(len(a.data))
	from := max(0, size-endSize-maxComment)
	window := a.data[from:]
	var first error
	for {
		i := bytes.LastIndex(window, []byte("PK\x05\x06"))
		if i < 0 {
			break
		}
		pos := from + int64(i)
		if size-pos >= endSize {
			end, err := a.readEnd(pos)
			if err == nil {
				return end, nil
			}
			if first == nil {
				first = err
			}
		}
		window = window[:i]
	}
	if first != nil {
		return directoryEnd{}, first
	}
	return directoryEnd{}, a.errorf(-1,
		"no end of central directory record: not a zip file, or cut short (%d bytes); make or fetch it again", size)
}

// readEnd reads the end record at pos.
func (a *Archive) readEnd(pos int64) (directoryEnd, error) {
	size, offset := uint64(u32(a.data, pos+12)), uint64(u32(a.data, pos+16))
	end := directoryEnd{count: uint64(u16(a.data, pos+10)), modulo: true}
	commentEnd := pos + endSize + int64(u16(a.data, pos+20))
	if commentEnd > int64(len(a.data)) {
		return end, a.errorf(pos, "archive comment reaches %d bytes past the end of the file; it is cut short",
			commentEnd-int64(len(a.data)))
	}
	end.comment, end.tail = a.data[pos+endSize:commentEnd], a.data[commentEnd:]

	limit := pos // where the central directory must end
	if end.count == magic16 || size == magic32 || offset == magic32 {
		at, err := a.findEnd64(pos)
		if err != nil {
			return end, err
		}
		if at >= 0 {
			limit = at
			if end.count == magic16 {
				end.count, end.modulo = u64(a.data, at+32), false
			}
			if size == magic32 {
				size = u64(a.data, at+40)
			}
			if offset == magic32 {
				offset = u64(a.data, at+48)
			}
		}
	}
	if size > uint64(limit) || offset > uint64(limit) {
		return end, a.errorf(pos,
			"central directory of %d bytes at offset %d does not fit before its end record; "+
				"the file is cut short or one part of several", size, offset)
	}
	end.start, end.size = limit-int64(size), int64(size)
	end.base = end.start - int64(offset)
	switch {
	case size == 0 && end.count == 0:
		// An empty directory can be recognised by its position at the end of the file only.
		if len(end.tail) > 0 {
			return end, a.errorf(pos, "end record of an empty archive with %d bytes behind it", len(end.tail))
		}
	case size < centralSize:
		// It would be opened as an archive without entries, and a copy with bytes behind its end would be refused.
		return end, a.errorf(pos, "central directory of %d bytes is too short for an entry", size)
	case end.base >= 0 && a.isCentral(end.start):
	case int64(offset)+int64(size) <= limit && a.isCentral(int64(offset)):
		// There are bytes between the directory and the end record, as some writers understood 4.3.13.
		end.start, end.base = int64(offset), 0
	default:
		return end, a.errorf(pos, "no central directory where the end record says, at offset %d", offset)
	}
	if end.base < 0 {
		return end, a.errorf(pos, "central directory of %d bytes at offset %d runs into its end record", size, offset)
	}
	return end, nil
}

// findEnd64 returns the position of the zip64 end of central directory record (4.3.14) that belongs to the end
// record at pos, or -1 if there is no locator (4.3.15) for one. Without a locator, the magic values in the end
// record are ordinary numbers.
func (a *Archive) findEnd64(pos int64) (int64, error) {
	locator := pos - locator64Size
	if locator < 0 || u32(a.data, locator) != locator64Signature {
		return -1, nil
	}
	isEnd64 := func(at int64) bool {
		return at >= 0 && at <= locator-end64Size && u32(a.data, at) == end64Signature
	}
	if at := u64(a.data, locator+8); at <= uint64(locator) && isEnd64(int64(at)) {
		return int64(at), nil
	}
	// If bytes were prepended to the archive, the locator's offset is too small by their number.
	if at := locator - end64Size; isEnd64(at) {
		return at, nil
	}
	return -1, a.errorf(locator, "no zip64 end of central directory record where its locator says")
}

// isCentral reports whether a central record starts at the offset at.
func (a *Archive) isCentral(at int64) bool {
	return at <= int64(len(a.data))-centralSize && u32(a.data, at) == centralSignature
}

// parseCentral reads all records of the central directory (4.3.12).
func (a *Archive) parseCentral(end directoryEnd) error {
	size := int64(len(a.central))
	// The declared number only determines how much is allocated; the records themselves are counted below.
	a.entries = make([]Entry, 0, min(end.count, uint64(size/centralSize)))
	pos := int64(0)
	for size-pos >= centralSize && u32(a.central, pos) == centralSignature {
		next := pos + centralSize + int64(u16(a.central, pos+28)) + int64(u16(a.central, pos+30)) +
			int64(u16(a.central, pos+32))
		if next > size {
			return a.errorf(a.directory+pos, "central record %d reaches %d bytes past the central directory",
				len(a.entries), next-size)
		}
		a.entries = append(a.entries, Entry{archive: a, record: pos, recordTo: next})
		e := &a.entries[len(a.entries)-1]
		if err := e.readCentral(); err != nil {
			return err
		}
		pos = next
	}
	// In archives of writers without zip64, the number of entries is modulo 65,536.
	found, said := uint64(len(a.entries)), end.count
	if found != said && !(end.modulo && found%(1<<16) == said) {
		return a.errorf(a.directory+pos, "central directory has %d records, its end record says %d", found, said)
	}
	return nil
}

// readCentral reads the central record of e, whose bounds were checked, and its zip64 extra field (4.5.3).
func (e *Entry) readCentral() error {
	rec := e.archive.central[e.record:e.recordTo]
	e.Flags, e.Method = u16(rec, 8), u16(rec, 10)
	e.CRC32 = u32(rec, 16)
	nameEnd := centralSize + int64(u16(rec, 28))
	e.Name = rec[centralSize:nameEnd]
	e.CompressedSize, e.Size = uint64(u32(rec, 20)), uint64(u32(rec, 24))
	offset := uint64(u32(rec, 42))

	extra := rec[nameEnd : nameEnd+int64(u16(rec, 30))]
	if e.CompressedSize == magic32 || e.Size == magic32 || offset == magic32 {
		at, to := findExtra(extra, extraZip64)
		if at >= 0 {
			at += 4
			for _, field := range []*uint64{&e.Size, &e.CompressedSize, &offset} {
				if *field != magic32 {
					continue
				}
				if to-at < 8 {
					return e.errorf(ErrFormat, e.archive.directory+e.record, "zip64 extra field is too short")
				}
				*field = u64(extra, at)
				at += 8
			}
		}
	}
	room := e.archive.directory - e.archive.base
	if offset > uint64(room) || room-int64(offset) < localSize {
		return e.errorf(ErrFormat, e.archive.directory+e.record,
			"local header at offset %d is not before the central directory at %d", offset, room)
	}
	e.head = e.archive.base + int64(offset)
	return nil
}
