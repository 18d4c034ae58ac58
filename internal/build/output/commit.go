package output

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// move is one step of making outputs appear.
type move struct {
	from string           // the staged file or directory; "" if to is a directory to make
	to   string           // where it goes
	file *atomicfile.File // which is renamed, or nil
}

// commit is the commit of one stage, while it lasts.
type commit struct {
	stage    *Stage
	moves    []move
	done     int // how many of moves
	journals []*journal
}

// Commit makes everything appear. First all is brought onto the disk, so that what can fail has failed before the first
// name changes. Then a journal says in each directory what is going to be renamed, so that another run can finish this
// one if it is killed. No other run of this user commits in these directories meanwhile.
func (o *Stage) Commit() error {
	c, err := o.begin()
	if err != nil {
		return err
	}
	if err := c.rename(len(c.moves)); err != nil {
		return c.fail(err)
	}
	for _, dir := range c.directories() {
		atomicfile.SyncDirectory(dir)
	}
	c.end()
	return nil
}

// begin brings all onto the disk, takes the locks, and writes the journals.
func (o *Stage) begin() (*commit, error) {
	for _, f := range o.files {
		if err := f.Sync(); err != nil {
			return nil, err
		}
	}
	c := &commit{stage: o}
	var err error
	if c.journals, err = lockAll(o.lockedDirectories(), o.warn); err != nil {
		return nil, err
	}
	for _, d := range o.directories {
		moves, err := d.moves()
		if err != nil {
			c.end()
			return nil, err
		}
		c.moves = append(c.moves, moves...)
	}
	for _, f := range o.files {
		if temp, path := f.Paths(); temp != "" {
			c.moves = append(c.moves, move{temp, path, f})
		}
	}
	if len(c.moves) > 1 {
		if err := c.write(); err != nil {
			c.end()
			return nil, err
		}
	}
	return c, nil
}

// lockedDirectories returns the directories in which names change, all links followed, sorted. Of an output directory
// it is also the one that it lies in: another run may be making it.
func (o *Stage) lockedDirectories() []string {
	var dirs []string
	real := realNames{}
	for _, f := range o.files {
		if temp, _ := f.Paths(); temp != "" {
			if dir, err := real.of(filepath.Dir(temp)); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	for _, d := range o.directories {
		if d.temp == "" {
			continue
		}
		if real, err := Resolve(d.Target); err == nil {
			dirs = append(dirs, filepath.Dir(real))
			if info, err := os.Stat(real); err == nil && info.IsDir() {
				dirs = append(dirs, real)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// directories returns the directories whose names the moves change.
func (c *commit) directories() []string {
	var dirs []string
	for _, m := range c.moves {
		dirs = append(dirs, filepath.Dir(m.to))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// rename makes the moves up to the one with the number.
func (c *commit) rename(to int) error {
	for ; c.done < to; c.done++ {
		m := &c.moves[c.done]
		var err error
		if m.file != nil {
			err = m.file.Rename()
		} else {
			err = m.make()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// make makes one move.
func (m *move) make() error {
	if m.from == "" {
		return os.MkdirAll(m.to, 0o777)
	}
	if err := os.MkdirAll(filepath.Dir(m.to), 0o777); err != nil {
		return err
	}
	return os.Rename(m.from, m.to)
}

// fail ends a commit in which a move failed. If others were made before, everything stays as it is with the journal,
// so that the next run finishes or undoes it.
func (c *commit) fail(err error) error {
	if c.done == 0 || len(c.journals) == 0 {
		c.end()
		return err
	}
	for _, f := range c.stage.files {
		f.Leave()
	}
	for _, d := range c.stage.directories {
		d.leave()
	}
	for _, j := range c.journals {
		j.file.Close()
	}
	return fmt.Errorf("%w; %d of %d outputs are in place: the next run that writes to this directory finishes or "+
		"undoes this", err, c.done, len(c.moves))
}

// end removes the journals, which ends the locks.
func (c *commit) end() {
	for _, j := range c.journals {
		j.remove()
	}
	c.journals = nil
}
