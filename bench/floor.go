package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/zipfile"
)

// floorCommand makes this program one of its own contestants. It does to jars what every program that changes their
// classes must do, and changes nothing. All classes are inflated and checksummed. Those that tracegen changes are
// checksummed and deflated again, by tracegen's own library at its default level and on all cores. Everything else
// is copied. Only the order of entries is kept, and there is no pass before the one that writes.
const floorCommand = "floor"

// floorWindow is the maximum number of entries that wait for the one before them.
const floorWindow = 256

// floorEntry is an entry that is being processed.
type floorEntry struct {
	entry   *zipfile.Entry
	changed bool
	packed  zipfile.Packed
	plain   *[]byte // the memory that packed may point into
	err     error
	done    chan struct{} // closed when packed or err is set; nil if both are final already
}

// floorRun is one run of the floor.
type floorRun struct {
	codec  zipfile.Codec
	plains sync.Pool // of *[]byte
	work   chan *floorEntry
}

// floorMain takes a list of jars, the directory for the outputs, and the file that [changesMain] wrote.
func floorMain(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: floor LIST OUTDIR CHANGES")
	}
	paths, err := readList(args[0])
	if err != nil {
		return err
	}
	changes, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	f := &floorRun{work: make(chan *floorEntry, floorWindow)}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(f.pack)
	}
	for _, path := range paths {
		if changes, err = f.copy(path, filepath.Join(args[1], filepath.Base(path)), changes); err != nil {
			break
		}
	}
	close(f.work)
	workers.Wait()
	return err
}

// pack processes entries until there are no more.
func (f *floorRun) pack() {
	for e := range f.work {
		*e.plain, e.err = f.codec.Read(e.entry, *e.plain)
		if e.err == nil && e.changed {
			e.packed, e.err = f.codec.Compress(*e.plain, e.entry.Level(zipfile.LevelDefault))
		}
		close(e.done)
	}
}

// copy writes one jar. changes begins with a byte for each of its entries; the rest is returned.
func (f *floorRun) copy(in, out string, changes []byte) ([]byte, error) {
	a, err := zipfile.Open(in)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	entries := a.Entries()
	if len(changes) < len(entries) {
		return nil, errors.New("the list of changes was made for other jars")
	}
	file, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	order := make(chan *floorEntry, floorWindow)
	go func() {
		for i := range entries {
			e := &floorEntry{entry: &entries[i], changed: changes[i] == '1'}
			if strings.HasSuffix(e.entry.Name, ".class") {
				e.done, e.plain = make(chan struct{}), f.plain()
				f.work <- e
			}
			order <- e
		}
		close(order)
	}()
	buffered := bufio.NewWriterSize(file, 1<<18)
	if err := f.write(buffered, a, order); err != nil {
		return nil, err
	}
	return changes[len(entries):], errors.Join(buffered.Flush(), file.Close())
}

func (f *floorRun) plain() *[]byte {
	if b, ok := f.plains.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// write writes the entries of an archive in their order. After a failure it drains the rest, so that no sender blocks.
func (f *floorRun) write(out io.Writer, a *zipfile.Archive, order <-chan *floorEntry) error {
	w := zipfile.NewWriter(out, a)
	var failed error
	for e := range order {
		if e.done != nil {
			<-e.done
		}
		switch {
		case failed != nil || e.err != nil:
			failed = errors.Join(failed, e.err)
		case e.changed && e.done != nil:
			failed = w.Replace(e.entry, e.packed)
			f.codec.Recycle(e.packed)
		default:
			failed = w.Copy(e.entry)
		}
		if e.plain != nil {
			f.plains.Put(e.plain)
		}
	}
	return errors.Join(failed, w.Close())
}
