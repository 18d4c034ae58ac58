package zipfile

import (
	"fmt"
	"math"
)

// recordChange has the new values of a central record; everything else in the record is kept.
type recordChange struct {
	flags, method    uint16
	crc              uint32
	compressed, size uint64
	offset           uint64
	resized          bool // the data is new, so that sizes in an unused zip64 field are wrong
}

// append appends to b the central record that consists of head (fixed part and name), extra and comment, with the
// changes made. A value that is in the zip64 extra field (4.5.3) stays there, so that the record keeps its shape; a
// value that needs more than 32 bits moves there.
func (c recordChange) append(b []byte, head, extra, comment string) ([]byte, error) {
	start := len(b)
	b = append(b, head...)
	fixed := b[start:]
	at, to := findExtra(extra, extraZip64)
	var values [3]uint64 // of the new zip64 field, in its order
	n, moved := 0, false
	// put writes a value to its field, or leaves it for the zip64 field.
	put := func(field int64, value uint64) {
		stays := at >= 0 && u32(fixed, field) == magic32
		if value >= magic32 || stays {
			moved = moved || !stays
			values[n] = value
			n++
			value = magic32
		}
		le.PutUint32(fixed[field:], uint32(value))
	}
	put(24, c.size)
	put(20, c.compressed)
	put(42, c.offset)
	le.PutUint16(fixed[8:], c.flags)
	le.PutUint16(fixed[10:], c.method)
	le.PutUint32(fixed[16:], c.crc)
	if moved || c.resized {
		raiseVersion(fixed[6:], c.method, n > 0)
	}

	switch {
	case n == 0 && (at < 0 || !c.resized):
		b = append(b, extra...)
	case at >= 0 && to-at >= 4+8*int64(n) && sameShape(to-at, n):
		b = append(b, extra...)
		field := b[int64(len(b)-len(extra))+at+4:]
		for i := range n {
			le.PutUint64(field[8*i:], values[i])
		}
	default:
		kept := extra
		if at >= 0 {
			kept = extra[:at] + extra[to:]
		}
		field := appendExtra64(nil, values[:n]...)
		if len(field)+len(kept) > math.MaxUint16 {
			return b[:start], fmt.Errorf(
				"write archive: no room for a zip64 extra field beside %d bytes of others in entry %s",
				len(kept), printable(head[centralSize:]))
		}
		le.PutUint16(fixed[30:], uint16(len(field)+len(kept)))
		b = append(append(b, field...), kept...)
	}
	return append(b, comment...), nil
}

// sameShape reports whether a zip64 extra field of length bytes, header included, has room for exactly n values,
// with or without the four bytes of a disk number.
func sameShape(length int64, n int) bool {
	rest := length - 4 - 8*int64(n)
	return rest == 0 || rest == 4
}

// raiseVersion raises the version needed to extract (4.4.3) to the one that method and zip64 need. A higher version
// that the archive had is kept.
func raiseVersion(field []byte, method uint16, zip64 bool) {
	needed := u16(field, 0)
	if method == Deflated && needed&0xFF < versionDeflate {
		needed = needed&^0xFF | versionDeflate
	}
	if zip64 && needed&0xFF < versionZip64 {
		needed = needed&^0xFF | versionZip64
	}
	le.PutUint16(field, needed)
}

// appendExtra64 appends a zip64 extra field with the values, or nothing if there are none.
func appendExtra64(b []byte, values ...uint64) []byte {
	if len(values) == 0 {
		return b
	}
	b = le.AppendUint16(b, extraZip64)
	b = le.AppendUint16(b, uint16(8*len(values)))
	for _, v := range values {
		b = le.AppendUint64(b, v)
	}
	return b
}

// localHeader returns the local header of e, with its name and extra fields, for the new data p. It uses memory if
// that is big enough. The zip64 field of a local header must have both sizes (4.5.3); it is dropped if neither size
// needs it and the old header did not use it.
func (e *Entry) localHeader(memory []byte, p Packed) (header []byte, err error) {
	if fault := e.archive.Guard(func() { header, err = e.mappedHeader(memory, p) }); fault != nil {
		return nil, fault
	}
	return header, err
}

// mappedHeader is localHeader for an archive that is guarded.
func (e *Entry) mappedHeader(memory []byte, p Packed) ([]byte, error) {
	old := e.archive.data[e.head:e.data]
	extraAt := localSize + int64(u16(old, 26))
	extra := old[extraAt:]
	at, to := findExtra(extra, extraZip64)
	used := at >= 0 && to-at >= 4+16 && (u32(old, 18) == magic32 || u32(old, 22) == magic32)
	big := uint64(len(p.Data)) >= magic32 || p.Size >= magic32 || used

	header := append(memory[:0], old[:extraAt]...)
	switch {
	case used:
		header = append(header, extra...)
		le.PutUint64(header[extraAt+at+4:], p.Size)
		le.PutUint64(header[extraAt+at+12:], uint64(len(p.Data)))
	default:
		if big {
			header = appendExtra64(header, p.Size, uint64(len(p.Data)))
		}
		if at >= 0 {
			header = append(header, extra[:at]...)
			extra = extra[to:]
		}
		header = append(header, extra...)
	}
	length := int64(len(header)) - extraAt
	if length > math.MaxUint16 {
		return nil, e.errorf(ErrUnsupported, e.head, "no room for a zip64 extra field beside %d bytes of others",
			len(extra))
	}
	le.PutUint16(header[28:], uint16(length))
	le.PutUint16(header[6:], u16(header, 6)&^flagDescriptor)
	patchLocal(header, p, big)
	return header, nil
}

// patchLocal writes method, CRC and sizes of p into a local header; with zip64 the sizes are in its extra field
// instead.
func patchLocal(header []byte, p Packed, zip64 bool) {
	le.PutUint16(header[8:], p.Method)
	le.PutUint32(header[14:], p.CRC32)
	compressed, size := uint64(len(p.Data)), p.Size
	if zip64 {
		compressed, size = magic32, magic32
	}
	le.PutUint32(header[18:], uint32(compressed))
	le.PutUint32(header[22:], uint32(size))
	raiseVersion(header[4:], p.Method, zip64)
}
