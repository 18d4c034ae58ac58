package zipfile

import "encoding/binary"

// Signatures and fixed sizes of the records (APPNOTE 4.3.7 to 4.3.16).
const (
	localSignature      = 0x04034b50
	centralSignature    = 0x02014b50
	endSignature        = 0x06054b50
	end64Signature      = 0x06064b50
	locator64Signature  = 0x07064b50
	descriptorSignature = 0x08074b50

	localSize     = 30
	centralSize   = 46
	endSize       = 22
	end64Size     = 56
	locator64Size = 20

	maxComment = 0xFFFF
)

// Values that mean that the real value is in the zip64 record or field (4.4.1.4).
const (
	magic16 = 0xFFFF
	magic32 = 0xFFFFFFFF
)

// extraZip64 is the header ID of the zip64 extended information extra field (4.5.3).
const extraZip64 = 0x0001

// Versions needed to extract (4.4.3.2).
const (
	versionDeflate = 20
	versionZip64   = 45
)

// General purpose bits (4.4.4).
const (
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3
	flagUTF8       = 1 << 11
)

// Compression methods that can be read and written (4.4.5); all others are only copied.
const (
	Stored   uint16 = 0
	Deflated uint16 = 8
)

func u16[B []byte | string](b B, at int64) uint16 {
	return uint16(b[at]) | uint16(b[at+1])<<8
}

func u32[B []byte | string](b B, at int64) uint32 {
	return uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24
}

func u64[B []byte | string](b B, at int64) uint64 {
	return uint64(u32(b, at)) | uint64(u32(b, at+4))<<32
}

var le = binary.LittleEndian

// findExtra returns where the header of the first extra field with the header ID id (4.5.1) starts and where its
// data ends, or -1, -1 if there is none. The search ends at bytes that are not a field: they are common, since
// zipalign pads with up to three zero bytes.
func findExtra[B []byte | string](extra B, id uint16) (start, end int64) {
	for at := int64(0); at+4 <= int64(len(extra)); {
		next := at + 4 + int64(u16(extra, at+2))
		if next > int64(len(extra)) {
			break
		}
		if u16(extra, at) == id {
			return at, next
		}
		at = next
	}
	return -1, -1
}
