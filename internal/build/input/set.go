package input

import (
	"fmt"
	"hash/crc32"
	"os"

	"github.com/tracegen/tracegen/internal/zipfile"
)

// Set is the inputs of one run. Goroutines may read from it at the same time.
type Set struct {
	Inputs  []*Input
	Classes []*Class // of all inputs

	codec zipfile.Codec
	kept  []*zipfile.Inflated // by number of class; nil unless the classes are kept
}

// NewSet makes a set of inputs, and numbers their classes.
func NewSet(inputs []*Input) *Set {
	s := &Set{}
	for _, in := range inputs {
		s.Add(in)
	}
	return s
}

// Add adds an input. Its classes have the numbers behind those of all others. No other goroutine may use the set
// meanwhile.
func (s *Set) Add(in *Input) {
	in.First = len(s.Classes)
	in.number()
	s.Inputs = append(s.Inputs, in)
	s.Classes = append(s.Classes, in.Classes...)
	if s.kept != nil {
		s.kept = append(s.kept, make([]*zipfile.Inflated, len(in.Classes))...)
	}
}

// keptClasses is how many bytes of classes a set keeps, or none if they are more: some 5,000 classes, which are then
// inflated once instead of once for each pass. More would be the biggest part of what a run needs.
const keptClasses = 32 << 20

// KeepClasses makes [Set.ReadFirst] keep classes, unless they have too many bytes: for a run that reads each class
// twice.
func (s *Set) KeepClasses() {
	total := int64(0)
	for _, c := range s.Classes {
		total += min(c.Size, keptClasses)
	}
	if total <= keptClasses {
		s.kept = make([]*zipfile.Inflated, len(s.Classes))
	}
}

// ReadFirst is [Set.Read] for a class that was not read before, and is not read meanwhile: later reads may get what it
// keeps. What an archive has uncompressed is not kept: it is copied from the mapped archive as fast.
func (s *Set) ReadFirst(class int, buffer *zipfile.Inflated) ([]byte, error) {
	if s.kept == nil {
		return s.Read(class, &buffer.Data)
	}
	err := s.inflate(class, buffer)
	if err != nil {
		return nil, err
	}
	if e, err := s.Entry(class); err == nil && (e.Zip == nil || e.Zip.Method != zipfile.Stored) {
		s.kept[class] = buffer.Clone()
	}
	return buffer.Data, nil
}

// ReadAgain is [Set.Read] for a class that will be compressed again. The result is buffer, or what the set keeps, which
// is not to be changed.
func (s *Set) ReadAgain(class int, buffer *zipfile.Inflated) (*zipfile.Inflated, error) {
	if s.kept != nil && s.kept[class] != nil {
		return s.kept[class], nil
	}
	return buffer, s.inflate(class, buffer)
}

func (s *Set) inflate(class int, buffer *zipfile.Inflated) error {
	e, err := s.readable(class)
	if err != nil {
		return err
	}
	if e.Zip != nil {
		return s.codec.Inflate(e.Zip, buffer)
	}
	data, err := s.ReadEntry(e, nil)
	if err == nil {
		*buffer = zipfile.Inflated{Data: data}
	}
	return err
}

// Size returns the number of bytes that all classes have, uncompressed, as the containers say.
func (s *Set) Size() (total int64) {
	for _, c := range s.Classes {
		total += c.Size
	}
	return total
}

// Containers returns the containers that are inputs themselves.
func (s *Set) Containers() []*Container {
	list := make([]*Container, len(s.Inputs))
	for i, in := range s.Inputs {
		list[i] = in.Containers[0]
	}
	return list
}

// ClassesOf returns the numbers of the classes of one input: from the first up to, and without, the end.
func (s *Set) ClassesOf(input int) (first, end int) {
	in := s.Inputs[input]
	return in.First, in.First + len(in.Classes)
}

// Entry returns the entry of a class. It opens the input if it is not open.
func (s *Set) Entry(class int) (*Entry, error) {
	in := s.Inputs[s.Classes[class].Container.Input]
	if err := in.Open(); err != nil {
		return nil, err
	}
	return in.entries[class-in.First], nil
}

// Read returns the bytes of a class file. They may lie in buffer, which the next call may be given: it is grown if
// needed. It opens the input if it is not open.
func (s *Set) Read(class int, buffer *[]byte) ([]byte, error) {
	if s.kept != nil && s.kept[class] != nil {
		return s.kept[class].Data, nil
	}
	e, err := s.readable(class)
	if err != nil {
		return nil, err
	}
	data, err := s.ReadEntry(e, *buffer)
	if err != nil {
		return nil, err
	}
	*buffer = data
	return data, nil
}

// readable returns the entry of a class, unless it is too big.
func (s *Set) readable(class int) (*Entry, error) {
	e, err := s.Entry(class)
	if err != nil {
		return nil, err
	}
	if e.Size > maxClass {
		return nil, fmt.Errorf("%w: %s: its %d bytes are more than the %d that are read as a class",
			zipfile.ErrUnsupported, s.Classes[class].Where(), e.Size, maxClass)
	}
	return e, nil
}

// Peek is [Set.Read] for a single class that is read out of order: it releases the memory of the archive again.
func (s *Set) Peek(class int, buffer *[]byte) ([]byte, error) {
	data, err := s.Read(class, buffer)
	if err != nil || s.kept != nil && s.kept[class] != nil {
		return data, err
	}
	e, err := s.Entry(class)
	if err == nil && e.Zip != nil {
		e.Zip.Release()
	}
	return data, err
}

// ReadEntry returns the uncompressed bytes of an entry, in buffer if that is big enough.
func (s *Set) ReadEntry(e *Entry, buffer []byte) ([]byte, error) {
	if e.Zip != nil {
		return s.codec.Read(e.Zip, buffer)
	}
	return os.ReadFile(e.File)
}

// CRC32 returns the CRC-32 of a class file: as the archive says it, because reading all of it would cost as much as
// changing it.
func (s *Set) CRC32(class int) (uint32, error) {
	e, err := s.Entry(class)
	if err != nil {
		return 0, err
	}
	if e.Zip != nil {
		return e.Zip.CRC32, nil
	}
	data, err := os.ReadFile(e.File)
	return crc32.ChecksumIEEE(data), err
}

// CheckUnchanged returns an error if an archive was changed since it was opened.
func (s *Set) CheckUnchanged() error {
	for _, in := range s.Inputs {
		for _, a := range in.archives {
			if !a.Unchanged() {
				return Changed(in.Path)
			}
		}
	}
	return nil
}

// Close closes all inputs.
func (s *Set) Close() {
	for _, in := range s.Inputs {
		in.Close()
	}
}

// Trail releases the memory of archives that are read entry by entry: otherwise an archive would be in memory twice in
// the end, mapped by this process and in the file cache of the system.
type Trail struct {
	archive *zipfile.Archive
	upTo    int64 // offset up to which it has been released
}

// releaseStep is how much of an archive is released at once.
const releaseStep = 4 << 20

// spared is the size of archives that are not released: a few pages, which are less than what else an input takes. It
// would take 50 microseconds for each archive, as all processors stop for it.
const spared = 64 << 10

// Pass notes that an entry is read next, and that none before it is read any more.
func (t *Trail) Pass(e *Entry) {
	if e.Zip == nil {
		return
	}
	if a := e.Zip.Archive(); a != t.archive {
		t.End()
		*t = Trail{archive: a}
	}
	if at := e.Zip.Offset(); at > t.upTo+releaseStep {
		t.archive.Release(t.upTo, at)
		t.upTo = at
	}
}

// End releases what is left of the archive, after its last entry.
func (t *Trail) End() {
	if t.archive != nil && t.archive.Size() > spared {
		t.archive.Release(t.upTo, t.archive.Size())
	}
}
