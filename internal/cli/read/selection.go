package read

import "github.com/tracegen/tracegen/internal/cli"

// selection holds the options that say which part of the recordings analyze shows. Package analysis applies them,
// before any format is written.
type selection struct {
	least   least
	stall   int
	all     bool
	idle    bool
	maxSize cli.ByteSize
}

// defaultMaxSize is more than most viewers can open.
const defaultMaxSize cli.ByteSize = 1e9

func (s *selection) options() []cli.Option {
	s.maxSize = defaultMaxSize
	return cli.Grouped("Selection",
		cli.Option{Name: "stall", Flag: cli.Number(&s.stall, 0),
			Help: "show only the stall with this `NUMBER` of the report"},
		cli.Option{Name: "idle", Flag: cli.Yes(&s.idle),
			Help: "show waits for work as stalls too: accept, select, take from a queue"},
		cli.Option{Name: "min", Flag: cli.Custom(&s.least),
			Help: "omit call paths of the format tree that took less than a `TIME` (5ms) or a share of all (1%)"},
		cli.Option{Name: "all", Flag: cli.Yes(&s.all), Help: "write each call, also those that are too short for a viewer"},
		cli.Option{Name: "max-size", Flag: cli.Custom(&s.maxSize),
			Help: "fail if the output is larger: no file is written, and standard output is cut"},
	)
}

// check refuses options that exclude each other.
func (s *selection) check(recordings []cli.Recording, format string) error {
	switch {
	case s.stall < 0:
		return cli.Misuse("--stall %d: must not be negative", s.stall)
	case s.stall > 0 && len(recordings) > 1:
		return cli.Misuse("--stall %d is a stall of one recording, but there are %d: name one", s.stall, len(recordings))
	case s.stall > 0 && recordings[0].Name == cli.StandardInput:
		return cli.Misuse("--stall reads the recording twice: name a file instead of standard input")
	case s.least != least{} && format != formatTree:
		return cli.Misuse("--min is for --format %s alone", formatTree)
	}
	return nil
}
