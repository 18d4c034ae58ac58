package build

import (
	"errors"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// guards holds the options of the guards, which make the exit code 1.
type guards struct{ guards guardFlag[*buildreport.Run] }

func (g *guards) options() []cli.Option {
	return cli.Grouped("Guards",
		cli.Option{Name: "guard", Block: "guards", Flag: cli.Custom(&g.guards), Commands: byInstrument | byAssign,
			Omit: cli.InNoRecord,
			Help: "after everything has been written, exit with 1 if a rewritten class was rejected (introduced), if " +
				"any class was left as it is because a check failed (unverifiable), or if a limit is exceeded: the " +
				"class files grow by more than 25 percent (growth=25), fewer methods are traced than 0.9 times those " +
				"of --base (ratio=0.9) or less than half of its methods (base=0.5), or the mapping has another digest " +
				"(digest=DIGEST, by default that of --base); repeatable",
			HelpIn: map[cli.CommandSet]string{
				byAssign: "after everything has been written, exit with 1 if any class is left as it is because a check " +
					"failed (introduced, unverifiable), or if a limit is exceeded (ratio=0.9, base=0.5, " +
					"digest=DIGEST), see instrument; repeatable",
			}},
	)
}

// checkBases checks that the options have what the guards compare with. base is the value of --base.
func (g *guards) checkBases(base string) error {
	if name := g.guards.Comparing(); base == "" && name != "" {
		return cli.Misuse("--guard %s compares with a base mapping: give --base", name)
	}
	return nil
}

// failedGuards returns the error of the guards that failed, or nil. It is called after everything has been written.
func failedGuards(guards []buildreport.Guard) error {
	var failed []error
	for _, g := range guards {
		if g.Failed {
			failed = append(failed, guardError{g})
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return cli.CheckFailed{Err: errors.Join(failed...)}
}

// guardError is the error of a guard that failed.
type guardError struct{ buildreport.Guard }

// Message returns the message of the guard.
func (e guardError) Message() console.Message {
	return console.Message{Level: console.LevelError, Text: e.String(),
		Guard: &console.Guard{Name: e.Name, Limit: e.Limit, Value: e.Value, Unit: e.Unit}}
}

// Error implements error.
func (e guardError) Error() string { return e.String() }

// guardFlag is the flag --guard of guards on a T, and the block guards of tracegen.yml.
type guardFlag[T buildreport.Guarded[T]] struct {
	buildreport.Guards[T]
	given map[string]bool // on the command line
}

// Set implements pflag.Value. It may be called several times.
func (f *guardFlag[T]) Set(text string) error {
	name, err := f.Add(text)
	if f.given == nil {
		f.given = map[string]bool{}
	}
	f.given[name] = true
	return err
}

// SetDefault adds a guard of tracegen.yml, unless the command line has it.
func (f *guardFlag[T]) SetDefault(text string) error {
	parsed := buildreport.Guards[T]{}
	if name, err := parsed.Add(text); err != nil || f.given[name] {
		return err
	}
	_, err := f.Add(text)
	return err
}

// Repeatable marks the flag as one that may be given several times.
func (f *guardFlag[T]) Repeatable() {}

// Type implements pflag.Value.
func (f *guardFlag[T]) Type() string { return "NAME[=LIMIT]" }
