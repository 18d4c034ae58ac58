package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"

	fastflate "github.com/klauspost/compress/flate"
)

// rezipCommand makes this program one of its own contestants: it inflates and deflates the classes of a
// jar on two threads and copies the rest, which is the floor for everybody who changes them.
const rezipCommand = "rezip"

// rezipMethods are the ways to pack again.
var rezipMethods = []string{"std", "klauspost -1", "klauspost 1", "store"}

// rezipWindow bounds how many entries may wait for the one before them.
const rezipWindow = 256

type packedEntry struct {
	header zip.FileHeader
	data   io.Reader
	err    error
}

func rezipMain(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: rezip METHOD IN OUT")
	}
	method, in, out := args[0], args[1], args[2]
	reader, err := zip.OpenReader(in)
	if err != nil {
		return err
	}
	defer reader.Close()
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := rezip(reader.File, f, method); err != nil {
		return err
	}
	return f.Close()
}

func rezip(files []*zip.File, out io.Writer, method string) error {
	const threads = 2
	type job struct {
		file *zip.File
		done chan packedEntry
	}
	jobs := make(chan job, threads)
	order := make(chan chan packedEntry, rezipWindow)
	var workers sync.WaitGroup
	for range threads {
		workers.Go(func() {
			p, err := newPacker(method)
			for j := range jobs {
				if err != nil {
					j.done <- packedEntry{err: err}
					continue
				}
				j.done <- p.pack(j.file)
			}
		})
	}
	go func() {
		for _, file := range files {
			done := make(chan packedEntry, 1)
			order <- done
			jobs <- job{file, done}
		}
		close(jobs)
		close(order)
	}()
	w := zip.NewWriter(out)
	var failed error
	for done := range order {
		// After a failure the rest is drained, so that no goroutine is left waiting.
		if p := <-done; failed == nil {
			failed = p.write(w)
		}
	}
	workers.Wait()
	return errors.Join(failed, w.Close())
}

func (p packedEntry) write(w *zip.Writer) error {
	if p.err != nil {
		return p.err
	}
	if strings.HasSuffix(p.header.Name, "/") {
		// Some jars deflate the nothing that a directory holds; the library refuses to write that.
		p.header.Method, p.header.CompressedSize64, p.data = zip.Store, 0, strings.NewReader("")
	}
	entry, err := w.CreateRaw(&p.header)
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, p.data)
	return err
}

// deflater is what the standard library's and the fast compressor have in common.
type deflater interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// packer packs entries one after another, with one compressor.
type packer struct {
	deflate deflater // nil to store
	plain   bytes.Buffer
}

func newPacker(method string) (*packer, error) {
	var p packer
	var err error
	switch method {
	case "std":
		p.deflate, err = flate.NewWriter(nil, flate.DefaultCompression)
	case "klauspost -1":
		p.deflate, err = fastflate.NewWriter(nil, fastflate.DefaultCompression)
	case "klauspost 1":
		p.deflate, err = fastflate.NewWriter(nil, fastflate.BestSpeed)
	case "store":
	default:
		err = fmt.Errorf("no method %q", method)
	}
	return &p, err
}

func (p *packer) pack(file *zip.File) packedEntry {
	header := file.FileHeader
	if !strings.HasSuffix(file.Name, ".class") {
		raw, err := file.OpenRaw()
		return packedEntry{header, raw, err}
	}
	r, err := file.Open()
	if err != nil {
		return packedEntry{err: err}
	}
	defer r.Close()
	p.plain.Reset()
	if _, err := p.plain.ReadFrom(r); err != nil {
		return packedEntry{err: err}
	}
	// A tool that changes the class has to sum it again.
	header.CRC32 = crc32.ChecksumIEEE(p.plain.Bytes())
	header.Flags &^= 8 // no data descriptor: the sizes are known
	packed := &bytes.Buffer{}
	if p.deflate == nil {
		header.Method = zip.Store
		packed.Write(p.plain.Bytes())
	} else {
		header.Method = zip.Deflate
		p.deflate.Reset(packed)
		if _, err := p.deflate.Write(p.plain.Bytes()); err != nil {
			return packedEntry{err: err}
		}
		if err := p.deflate.Close(); err != nil {
			return packedEntry{err: err}
		}
	}
	header.CompressedSize64 = uint64(packed.Len())
	return packedEntry{header, packed, nil}
}
