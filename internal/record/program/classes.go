package program

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// Pair is an archive and its instrumented copy.
type Pair struct {
	// Original and Rewritten are the paths of both.
	Original, Rewritten string
}

const (
	classesMagic = "TGCLASS1"
	headSize     = 16
	rowSize      = 32
)

// row is a class in the file of rewritten classes. RewrittenClasses.java describes the file.
type row struct {
	name           int32 // hash of the name
	crc            int32 // of the original
	original, size int32 // of the class files; size is 0 if the class did not change
	method         uint16
	data           []byte
}

// WriteClasses writes the classes that changed, of all pairs, to the file at path. It returns the number of rows. A
// class that did not change has a row if a changed one has its hash: another version of it, or one with another name.
// Without it, the agent would count the class as one that differs from its original.
func WriteClasses(path string, pairs []Pair) (count int, err error) {
	var rows []row
	for _, p := range pairs {
		original, err := input.Open(0, p.Original, true)
		if err != nil {
			return 0, err
		}
		defer original.Close()
		rewritten, err := input.Open(0, p.Rewritten, true)
		if err != nil {
			return 0, err
		}
		defer rewritten.Close()
		if rows, err = appendRows(rows, original, rewritten); err != nil {
			return 0, err
		}
	}
	// The order is that in which the agent searches. Equal classes of several archives are one row.
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.crc, b.crc), cmp.Compare(a.original, b.original),
			-cmp.Compare(a.size, b.size))
	})
	rows = slices.CompactFunc(rows, func(a, b row) bool {
		return a.name == b.name && a.crc == b.crc && a.original == b.original
	})
	changed := map[int32]bool{}
	for _, r := range rows {
		changed[r.name] = changed[r.name] || r.size > 0
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !changed[r.name] })
	return len(rows), writeRows(path, rows)
}

// appendRows adds the rows of the classes of one archive.
func appendRows(rows []row, original, rewritten *input.Input) ([]row, error) {
	after := map[string]*zipfile.Entry{}
	for i := range rewritten.Containers[0].Entries {
		e := &rewritten.Containers[0].Entries[i]
		after[e.Name] = e.Zip
	}
	var codec zipfile.Codec
	var buffer []byte
	entries := original.Containers[0].Entries
	for i := range entries {
		before := entries[i].Zip
		now := after[entries[i].Name]
		if !strings.HasSuffix(entries[i].Name, ".class") || now == nil {
			continue
		}
		changed := now.CRC32 != before.CRC32 || now.Size != before.Size
		data, err := codec.Read(before, buffer)
		if err != nil && changed {
			return nil, err
		}
		hash, ok := nameHash(data)
		if err != nil || !ok {
			continue
		}
		buffer = data
		r := row{name: hash, crc: int32(before.CRC32), original: int32(len(data))}
		if changed {
			r.size, r.method, r.data = int32(now.Size), now.Method, now.Raw()
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// nameHash returns the value of Java's String.hashCode for the internal name of a class.
func nameHash(class []byte) (hash int32, ok bool) {
	c, err := classfile.Parse(class)
	if err != nil {
		return 0, false
	}
	name, ok := classfile.DecodeMUTF8(c.Name())
	if !ok {
		return 0, false
	}
	for _, unit := range utf16.Encode([]rune(name)) {
		hash = 31*hash + int32(unit)
	}
	return hash, true
}

func writeRows(path string, rows []row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<16)
	head := append([]byte(classesMagic), make([]byte, headSize-len(classesMagic))...)
	binary.BigEndian.PutUint32(head[8:], uint32(len(rows)))
	_, err = w.Write(head)
	offset := uint64(headSize + rowSize*len(rows))
	for _, r := range rows {
		deflated := uint32(0)
		if r.method == zipfile.Deflated {
			deflated = 1
		}
		b := make([]byte, 0, rowSize)
		for _, n := range []uint32{uint32(r.name), uint32(r.crc), uint32(r.original), uint32(r.size),
			uint32(len(r.data)), deflated} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		_, more := w.Write(binary.BigEndian.AppendUint64(b, offset))
		err = errors.Join(err, more)
		offset += uint64(len(r.data))
	}
	if offset > math.MaxInt32 {
		return fmt.Errorf("the instrumented classes have %d bytes, and a JVM can map 2 GiB: block packages in "+
			"tracegen.yml", offset)
	}
	for _, r := range rows {
		_, more := w.Write(r.data)
		err = errors.Join(err, more)
	}
	return errors.Join(err, w.Flush(), f.Close())
}
