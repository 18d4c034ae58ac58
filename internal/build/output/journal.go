package output

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// A journal is a file in a directory with outputs while they appear. It is the lock of the directory, and says which
// temporary file becomes which output. Each of its lines begins with the CRC-32 of all text up to the line's end but
// this number, and the last one counts them. Names are relative to its directory, so that the tree may be moved.
//
//	1d0c7ad1 tracegen journal 1 6ZQ4…
//	8f8b9f3d move ".tracegen-K2….tmp" "out.jar" 1835021 -
//	2b1a7dc0 also "../lists/.tracegen-commit-1000.journal"
//	77a0f1be end 3
const journalVersion = "tracegen journal 1 "

// maxJournal is the largest journal that is read, in bytes.
const maxJournal = 1 << 28

// lockTime is how long a run waits for another one that commits in the same directory.
const lockTime = time.Minute

var (
	errUnfinished = errors.New("it was not finished") // nothing was renamed yet
	errDamaged    = errors.New("it is damaged")
)

// journal is a journal that this process has made and locked.
type journal struct {
	file *os.File
	dir  string
}

// planned is what a journal says.
type planned struct {
	run   string // which run wrote it
	steps []step
	also  []string // the other journals of this run
}

// step is a move in a journal.
type step struct {
	from, to string // from is "" for a directory that is made
	inode    uint64 // of from
	was      string // the state of what was at to, see stateAt
}

// isJournal reports whether a name is that of a journal, of any user.
func isJournal(name string) bool {
	return strings.HasPrefix(name, ".tracegen-commit-") && strings.HasSuffix(name, ".journal")
}

func journalName() string { return fmt.Sprintf(".tracegen-commit-%d.journal", os.Geteuid()) }

// lockAll locks directories, which must be sorted: so two runs never wait for each other. A directory is left out if
// it cannot be locked.
func lockAll(dirs []string, warn func(text string)) ([]*journal, error) {
	var list []*journal
	for _, dir := range dirs {
		j, err := lock(dir, warn)
		if err != nil {
			for _, j := range list {
				j.remove()
			}
			return nil, err
		}
		if j != nil {
			list = append(list, j)
		}
	}
	return list, nil
}

// lock makes the journal of a directory. If another run has it, it waits; what a killed run has left, it finishes or
// undoes. It returns nil where this is not possible.
func lock(dir string, warn func(text string)) (*journal, error) {
	path := filepath.Join(dir, journalName())
	for began, pause := time.Now(), time.Millisecond; ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil:
			got, supported := atomicfile.TryLock(f)
			if got && atomicfile.IsAt(f, path) {
				return &journal{f, dir}, nil
			}
			if !supported {
				f.Close()
				os.Remove(path)
				return nil, nil
			}
			f.Close()
			continue
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
			return nil, nil // nothing is renamed here, or an error follows that says more
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("cannot write to %s: %w", dir, err)
		}
		free, err := conclude(path, warn)
		if err != nil {
			return nil, nil
		}
		if free {
			continue
		}
		if time.Since(began) > lockTime {
			return nil, fmt.Errorf("another run has been writing to %s for %v; wait until it ends, or choose another "+
				"directory", dir, lockTime)
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// remove removes the journal, which ends the lock.
func (j *journal) remove() {
	os.Remove(j.file.Name())
	j.file.Close()
}

// write writes the journals of a commit, and brings them onto the disk.
func (c *commit) write() error {
	run, real := rand.Text(), realNames{}
	for _, j := range c.journals {
		p := planned{run: run}
		for _, m := range c.moves {
			s, err := m.step(j.dir, real)
			if err != nil {
				return err
			}
			p.steps = append(p.steps, s)
		}
		for _, other := range c.journals {
			if other == j {
				continue
			}
			if name, err := filepath.Rel(j.dir, other.file.Name()); err == nil {
				p.also = append(p.also, name)
			}
		}
		_, err := j.file.Write(p.text())
		if err == nil {
			err = j.file.Sync()
		}
		if err != nil {
			return fmt.Errorf("cannot write to %s: %w", j.dir, err)
		}
	}
	for _, j := range c.journals {
		atomicfile.SyncDirectory(j.dir)
	}
	return nil
}

// step returns the move as a journal in dir has it.
func (m *move) step(dir string, real realNames) (s step, err error) {
	relative := func(path string) string {
		name := ""
		if name, err = real.of(filepath.Dir(path)); err == nil {
			name, err = filepath.Rel(dir, filepath.Join(name, filepath.Base(path)))
		}
		return name
	}
	if s.to = relative(m.to); err != nil {
		return s, err
	}
	s.was, _ = stateAt(m.to)
	if m.from == "" {
		return s, nil
	}
	if s.from = relative(m.from); err != nil {
		return s, err
	}
	state := ""
	if state, s.inode = stateAt(m.from); state == noFile {
		return s, fmt.Errorf("cannot write %s: its temporary file was removed while tracegen was running; run it again",
			m.to)
	}
	return s, nil
}

// noFile is the state of what is not there.
const noFile = "-"

// stateAt returns a text that changes when a file is written or replaced, and its inode; noFile if there is none.
func stateAt(path string) (state string, inode uint64) {
	info, err := os.Lstat(path)
	if err != nil {
		return noFile, 0
	}
	id := atomicfile.IDOf(info)
	if info.IsDir() {
		return fmt.Sprintf("%d", id.Inode), id.Inode
	}
	return fmt.Sprintf("%d/%d/%d", id.Inode, info.Size(), info.ModTime().UnixNano()), id.Inode
}

// text returns the journal's text.
func (p *planned) text() []byte {
	var b bytes.Buffer
	sum, lines := uint32(0), 0
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...) + "\n"
		sum = crc32.Update(sum, crc32.IEEETable, []byte(text))
		fmt.Fprintf(&b, "%08x %s", sum, text)
		lines++
	}
	line("%s%s", journalVersion, p.run)
	for _, s := range p.steps {
		line("move %q %q %d %s", s.from, s.to, s.inode, s.was)
	}
	for _, name := range p.also {
		line("also %q", name)
	}
	line("end %d", lines)
	return b.Bytes()
}

// parseJournal reads a journal's text. The error is [errUnfinished] if it ends too early, and [errDamaged] otherwise.
func parseJournal(data []byte) (*planned, error) {
	p := &planned{}
	sum := uint32(0)
	for lines := 0; ; lines++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return nil, errUnfinished
		}
		number, text, _ := strings.Cut(string(line), " ")
		sum = crc32.Update(sum, crc32.IEEETable, []byte(text+"\n"))
		if number != fmt.Sprintf("%08x", sum) {
			return nil, errDamaged
		}
		if text == fmt.Sprintf("end %d", lines) && lines > 0 && len(rest) == 0 {
			return p, nil
		}
		if !p.add(text, lines == 0) {
			return nil, errDamaged
		}
		data = rest
	}
}

// add adds a line, and reports whether it was one.
func (p *planned) add(line string, first bool) bool {
	if run, ok := strings.CutPrefix(line, journalVersion); ok || first {
		p.run = run
		return ok && first && run != ""
	}
	if text, ok := strings.CutPrefix(line, "also "); ok {
		name, err := strconv.Unquote(text)
		p.also = append(p.also, name)
		return err == nil && filepath.Base(name) == journalName()
	}
	text, ok := strings.CutPrefix(line, "move ")
	if !ok {
		return false
	}
	var s step
	for _, name := range []*string{&s.from, &s.to} {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return false
		}
		if *name, err = strconv.Unquote(quoted); err != nil {
			return false
		}
		if text, ok = strings.CutPrefix(text[len(quoted):], " "); !ok {
			return false
		}
	}
	number, state, ok := strings.Cut(text, " ")
	inode, err := strconv.ParseUint(number, 10, 64)
	s.inode, s.was = inode, state
	p.steps = append(p.steps, s)
	return ok && err == nil && s.isPlausible()
}

// isPlausible reports whether the step is one that a run makes: from a temporary file, or from a file in a temporary
// directory.
func (s *step) isPlausible() bool {
	if s.to == "" || s.was == "" || filepath.IsAbs(s.to) || filepath.IsAbs(s.from) {
		return false
	}
	if s.from == "" {
		return s.inode == 0
	}
	for part := range strings.SplitSeq(filepath.ToSlash(s.from), "/") {
		if atomicfile.IsTemporary(part) {
			return true
		}
	}
	return false
}
