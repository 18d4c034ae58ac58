package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// keeping holds the options of the commands that maintain a store.
type keeping struct {
	con             *console.Console
	store, older    string
	trustClock      bool
	users, sessions []string
	names           collecting   // has the options of names
	check           func() error // refuses options before the store is opened; nil if all fit
}

// command makes one of the commands; options are those beside --store.
func (k *keeping) command(use, short, long, example string, options []cli.Option,
	run func(context.Context, *lake.Lake) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if k.store == "" {
				return cli.Misuse("no --store given")
			}
			if k.check != nil {
				if err := k.check(); err != nil {
					return err
				}
			}
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return k.run(ctx, run)
		}}
	cli.NewOptions(cli.Grouped("Store", cli.Option{Name: "store", Flag: cli.Text(&k.store, ""),
		Help: "the `STORE` of tracegen collect, a directory or s3://BUCKET/PREFIX"}), options).AddTo(cmd, 0)
	return cmd
}

// run opens the store and a directory for temporary files.
func (k *keeping) run(ctx context.Context, do func(context.Context, *lake.Lake) error) error {
	beside := os.TempDir() // beside a directory, a file that is complete needs only a new name
	if !objects.IsRemote(k.store) {
		if _, err := lake.IsStore(k.store); err != nil {
			return err
		}
		beside = k.store
	}
	l, err := lake.Open(k.store)
	if err != nil {
		return err
	}
	err = l.Check(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no collector has stored there; give the --store of tracegen collect")
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", k.store, err)
	}
	atomicfile.Sweep(beside) // of commands that were killed: rows in it may be of users who are forgotten
	var lock *os.File
	if l.Temp, lock, err = atomicfile.CreateDirectory(beside); err != nil {
		return err
	}
	defer lock.Close()
	defer os.RemoveAll(l.Temp)
	var mu sync.Mutex
	l.Warn = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		k.con.Warn("%v", err)
	}
	if k.names.naming.Mapping != "" {
		l.Names = func(digest string) (*resolve.Names, error) { return k.names.names(ctx, digest) }
	}
	if k.names.naming.R8 != "" {
		if l.R8, err = r8.Load(k.names.naming.R8); err != nil {
			return err
		}
	}
	if err := do(ctx, l); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted") // cli.Run would say that nothing was written
		}
		if errors.Is(err, lake.ErrClock) {
			return fmt.Errorf("store %s: %w", k.store, err)
		}
		return fmt.Errorf("store %s: %w; run the command again to complete it", k.store, err)
	}
	return nil
}

// trust is the option --trust-clock.
func (k *keeping) trust() cli.Option {
	return cli.Option{Name: "trust-clock", Flag: cli.Yes(&k.trustClock),
		Help: "the clock is right, however long ago the last report came"}
}

func newCompactCmd(con *console.Console) *cobra.Command {
	k := keeping{con: con}
	k.names.con = con
	return k.command("compact --store STORE", "Merge the files of a store",
		`compact replaces the Parquet files of each package, mapping and day by one, with the names
of mappings that have come meanwhile. collect does so every hour; a store whose collectors
have --no-maintenance needs this command.

It may run while collectors write and programs read. If it is killed, some rows are there
twice until it runs again; the views of docs/sql count one.`,
		`  tracegen collect compact --store s3://reports/app --mapping mappings/`,
		k.names.namingOptions(), func(ctx context.Context, l *lake.Lake) error {
			n, err := l.Compact(ctx, 2)
			if err == nil {
				con.Inform("merged %d files", n)
			}
			return err
		})
}

func newExpireCmd(con *console.Console) *cobra.Command {
	k, days := keeping{con: con}, 0
	k.check = func() error {
		number, ok := strings.CutSuffix(k.older, "d")
		var err error
		if days, err = strconv.Atoi(number); !ok || err != nil || days < 1 || days > 3650 {
			return cli.Misuse("--older %q: must be a number of days from 1 to 3650, as 90d", k.older)
		}
		return nil
	}
	return k.command("expire --store STORE --older 90d", "Remove what is too old",
		`expire removes reports and recordings that were received before a number of days. collect
does so every hour, see its --keep-days.

If the days with reports are far from what the clock says, it removes nothing: the clock
may be wrong.`,
		`  tracegen collect expire --store collected/ --older 90d`,
		cli.Grouped("Age", cli.Option{Name: "older", Flag: cli.Text(&k.older, ""),
			Help: "remove what is older than `DAYS`, as 90d"},
			k.trust()),
		func(ctx context.Context, l *lake.Lake) error {
			n, err := l.Expire(ctx, days, k.trustClock)
			if err == nil {
				con.Inform("removed %d files", n)
			}
			return err
		})
}

func newForgetCmd(con *console.Console) *cobra.Command {
	k := keeping{con: con}
	k.check = func() error {
		if len(k.users)+len(k.sessions) == 0 {
			return cli.Misuse("neither --user nor --session given")
		}
		if slices.Contains(slices.Concat(k.users, k.sessions), "") {
			return cli.Misuse("the ID of --user or --session is empty")
		}
		return nil
	}
	return k.command("forget --store STORE --user ID", "Remove all of a user or a session",
		`forget removes the reports and recordings of users or sessions: the values of the columns
user_id and session. It reads the whole store; name many users at once.

Reports that a collector has received and not written yet are left out when it writes
them. What is received five minutes later stays. So the clock must be right: if the days
with reports are far from what it says, nothing is removed. Backups, earlier versions of
objects in a bucket that keeps versions, and results of queries are copies that it does
not reach.`,
		`  tracegen collect forget --store collected/ --user 81caf54fe1699ddc
  tracegen collect forget --store s3://reports/app --session 0123456789abcdef`,
		cli.Grouped("Whose", cli.Option{Name: "user", Flag: cli.Texts(&k.users), Help: "the user `ID`; repeatable"},
			cli.Option{Name: "session", Flag: cli.Texts(&k.sessions), Help: "the session `ID`; repeatable"}, k.trust()),
		func(ctx context.Context, l *lake.Lake) error {
			n, err := l.Forget(ctx, k.users, k.sessions, k.trustClock)
			if err != nil {
				return err
			}
			con.Inform("removed %d reports and %d files of recordings", n.Reports, n.Recordings)
			con.Inform("copies may remain: reports that collectors have not written yet, which they leave out then; and " +
				"backups, earlier versions of objects in the bucket, and results of queries, which this does not reach")
			return nil
		})
}
