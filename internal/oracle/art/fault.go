package art

import (
	"crypto/sha1"
	"encoding/binary"
	"hash/adler32"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// The parts of a DEX file that [PlantFault] reads, by their offsets, and two opcodes.
const (
	dexChecksum, dexSignature, dexSigned = 8, 12, 32
	dexClassDefs, classDefSize           = 0x60, 32
	classDataOffset                      = 24
	codeSize, codeStart                  = 12, 16
	opReturn, opReturnObject             = 0x0f, 0x11
)

// PlantFault copies a jar of DEX files, and makes one method of each file wrong: the first that ends in a return of an
// int returns a reference, which the verifier must refuse. It returns the offset of the instruction in its method, in
// units of 16 bits.
func PlantFault(t testing.TB, from, to string) (offset int) {
	t.Helper()
	offset = -1
	entries := fixture.Unpack(t, fixture.Read(t, from))
	for i, e := range entries {
		if filepath.Ext(e.Name) == ".dex" {
			dex := []byte(e.Data)
			if at := plant(dex); at >= 0 {
				offset = at
			}
			entries[i].Data = string(dex)
		}
	}
	if offset < 0 {
		t.Fatalf("%s: no method returns an int at its end", from)
	}
	fixture.Write(t, to, fixture.Pack(t, entries...))
	return offset
}

// plant changes a DEX file that D8 has made. It returns -1 if there is no such method.
func plant(dex []byte) int {
	u4 := func(at int) int { return int(binary.LittleEndian.Uint32(dex[at:])) }
	for k := range u4(dexClassDefs) {
		at := u4(u4(dexClassDefs+4) + k*classDefSize + classDataOffset)
		if at == 0 {
			continue
		}
		next := func() int {
			v, n := binary.Uvarint(dex[at:])
			at += n
			return int(v)
		}
		fields := next() + next()
		methods := next() + next()
		for range 2 * fields {
			next()
		}
		for range methods {
			next() // the method
			next() // its flags
			code := next()
			if code == 0 {
				continue
			}
			last := u4(code+codeSize) - 1
			if opcode := &dex[code+codeStart+2*last]; *opcode == opReturn {
				*opcode = opReturnObject
				sum := sha1.Sum(dex[dexSigned:])
				copy(dex[dexSignature:], sum[:])
				binary.LittleEndian.PutUint32(dex[dexChecksum:], adler32.Checksum(dex[dexSignature:]))
				return last
			}
		}
	}
	return -1
}
