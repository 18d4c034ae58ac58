package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// Recover finishes or undoes what runs have left that were killed, in the directories of the outputs, and removes their
// temporary files. What belongs to another user or to a run that is not over stays. It calls warn with a text about
// each directory whose files are others afterwards, or may be of two runs.
func Recover(outputs []string, warn func(text string)) {
	var dirs []string
	for _, path := range outputs {
		real, err := Resolve(path)
		if err != nil {
			continue
		}
		dirs = append(dirs, filepath.Dir(real))
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			dirs = append(dirs, real)
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	for _, dir := range dirs {
		_, _ = conclude(filepath.Join(dir, journalName()), warn)
	}
	for _, dir := range dirs {
		atomicfile.Sweep(dir)
	}
}

// conclude finishes or undoes the commit of a journal and removes the journal. It returns false if the run that wrote
// it is not over, and an error if the journal must be left alone.
func conclude(path string, warn func(text string)) (free bool, err error) {
	f, err := openJournal(path)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	got, supported := atomicfile.TryLock(f)
	switch {
	case !supported:
		return false, errors.ErrUnsupported
	case !got:
		return false, nil
	case !atomicfile.IsAt(f, path):
		return true, nil
	}
	p, err := readJournal(f)
	switch {
	case errors.Is(err, errDamaged):
		warn(path + ", which a killed run left, is damaged, and was removed; the files there may be of two runs")
	case errors.Is(err, errUnfinished): // its run had renamed nothing
	case err != nil:
		return false, err
	default:
		p.conclude(filepath.Dir(path), warn)
		p.removeOthers(filepath.Dir(path))
	}
	return true, os.Remove(path)
}

// openJournal opens a journal of this user.
func openJournal(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !atomicfile.IsOwn(info) {
		return nil, os.ErrPermission
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if open, err := f.Stat(); err != nil || !os.SameFile(open, info) {
		f.Close()
		return nil, os.ErrNotExist // it was replaced just now
	}
	return f, nil
}

func readJournal(f *os.File) (*planned, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxJournal+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxJournal {
		return nil, errDamaged
	}
	return parseJournal(data)
}

// conclude finishes the commit of a killed run if everything of it is still there. Otherwise it removes what the run
// had staged.
func (p *planned) conclude(dir string, warn func(text string)) {
	open, done, lost := 0, 0, 0
	for i := range p.steps {
		switch s := &p.steps[i]; s.state(dir) {
		case stepOpen:
			open++
		case stepDone:
			if s.from != "" {
				done++
			}
		default:
			lost++
		}
	}
	if open > 0 && lost == 0 && p.finish(dir) == nil {
		warn(fmt.Sprintf("%s: an earlier run was killed while its outputs appeared; %d files of it were put in place "+
			"now", dir, open))
		return
	}
	for i := range p.steps {
		if s := &p.steps[i]; s.from != "" && s.state(dir) == stepOpen {
			os.Remove(filepath.Join(dir, s.from))
		}
	}
	if open > 0 && done > 0 {
		warn(dir + ": an earlier run was killed while its outputs appeared, and what was left of it has been changed; " +
			"the files there may be of two runs, write all of them again")
	}
}

// stepState is how far a step of a killed run went.
type stepState int

const (
	stepLost stepState = iota // the file to rename is gone, or what it replaces has changed
	stepOpen
	stepDone
)

func (s *step) state(dir string) stepState {
	state, there := stateAt(filepath.Join(dir, s.to))
	if s.from == "" {
		if state == noFile {
			return stepOpen
		}
		return stepDone
	}
	info, err := os.Lstat(filepath.Join(dir, s.from))
	switch {
	case err == nil && atomicfile.IsOwn(info) && atomicfile.IDOf(info).Inode == s.inode && state == s.was:
		return stepOpen
	case err != nil && there == s.inode && there != 0:
		return stepDone
	}
	return stepLost
}

// finish makes the steps that were not made.
func (p *planned) finish(dir string) error {
	var changed []string
	for i := range p.steps {
		s := &p.steps[i]
		if s.state(dir) != stepOpen {
			continue
		}
		m := move{to: filepath.Join(dir, s.to)}
		if s.from != "" {
			m.from = filepath.Join(dir, s.from)
		}
		if err := m.make(); err != nil {
			return err
		}
		changed = append(changed, filepath.Dir(m.to))
	}
	slices.Sort(changed)
	for _, dir := range slices.Compact(changed) {
		atomicfile.SyncDirectory(dir)
	}
	return nil
}

// removeOthers removes the other journals of the run.
func (p *planned) removeOthers(dir string) {
	for _, name := range p.also {
		path := filepath.Join(dir, name)
		f, err := openJournal(path)
		if err != nil {
			continue
		}
		if got, _ := atomicfile.TryLock(f); got && atomicfile.IsAt(f, path) {
			if other, err := readJournal(f); err == nil && other.run == p.run {
				os.Remove(path)
			}
		}
		f.Close()
	}
}
