package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// NewCollect returns the command collect.
func NewCollect(con *console.Console) *cobra.Command {
	c := collecting{con: con, maxStore: 20 << 30}
	cmd := &cobra.Command{
		Use:   "collect --store STORE",
		Short: "Receive the reports and recordings that apps send",
		Long: `collect is a small HTTP server. Apps send it reports of stalls and incidents, and
recordings; it stores them in a directory or a bucket, and serves their configuration.
tracegen group reads the store, and so do DuckDB, Spark and BigQuery: the reports are
Parquet files. Any number of collectors may write to one store.

A request needs one of the tokens in --token-file. Without tokens, collect listens on
addresses of this machine only. Without --mapping, the Parquet files have IDs in place of
the names of methods. A mapping may also come later than the reports of its build.

SIGTERM or SIGINT makes collect store what has arrived, and end. SIGHUP makes it read the
files with tokens, certificate and configuration again; if one has an error, all stay as
they are. docs/collect.md describes the protocol, the directory, and the queries.`,
		Example: `  tracegen collect --store collected/
  tracegen collect --store collected/ --mapping mappings/ --listen :8377 --token-file tokens.txt \
    --tls-cert cert.pem --tls-key key.pem --config config/ --config-key signing.pem`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	c.options().AddTo(cmd, 0)
	cmd.AddCommand(newCompactCmd(con), newExpireCmd(con), newForgetCmd(con))
	return cmd
}

// The limits of requests, in bytes.
const (
	maxBody      = 2 << 20   // a compressed body with reports
	maxReport    = 256 << 10 // one report
	maxRecording = 256 << 20 // a part of a recording
)

// collecting holds the options of the command.
type collecting struct {
	con                        *console.Console
	listen, store, wal         string
	tokenFile, tlsCert, tlsKey string
	config, configKey          string
	packages                   []string
	maxStore                   cli.ByteSize
	keepDays                   int
	noMaintenance              bool
	every                      time.Duration
	naming                     cli.Naming
	mu                         sync.Mutex // held while a message is printed
	certificate                atomic.Pointer[tls.Certificate]
	opened                     *resolve.Mappings
	openedAt                   time.Time
}

func (c *collecting) options() cli.Options {
	return cli.NewOptions(cli.Grouped("Server",
		cli.Option{Name: "listen", Flag: cli.Text(&c.listen, "127.0.0.1:8377"), Help: "listen on `ADDRESS`, HOST:PORT"},
		cli.Option{Name: "token-file", Flag: cli.Text(&c.tokenFile, ""), File: cli.FileRead,
			Help: "requests must have a token of `FILE`, which has one on a line"},
		cli.Option{Name: "tls-cert", Flag: cli.Text(&c.tlsCert, ""), File: cli.FileRead,
			Help: "serve HTTPS with the certificate in `FILE`, PEM"},
		cli.Option{Name: "tls-key", Flag: cli.Text(&c.tlsKey, ""), File: cli.FileRead,
			Help: "the certificate's key in `FILE`, PEM"},
		cli.Option{Name: "package", Flag: cli.Texts(&c.packages), Help: "take what is of this `PACKAGE` only; repeatable"},
	), cli.Grouped("Store",
		cli.Option{Name: "store", Flag: cli.Text(&c.store, ""),
			Help: "store in the directory `STORE`, or in s3://BUCKET/PREFIX"},
		cli.Option{Name: "wal", Flag: cli.Text(&c.wal, ""), File: cli.FileCache,
			Help: "keep the write-ahead log in `DIR`: STORE/wal for a directory, else tracegen-wal"},
		cli.Option{Name: "keep-days", Flag: cli.Number(&c.keepDays, 90),
			Help: "remove what is older than `N` days; 0 keeps all"},
		cli.Option{Name: "max-store", Flag: cli.Custom(&c.maxStore),
			Help: "take nothing more when the directory has this size"},
		cli.Option{Name: "every", Flag: cli.Duration(&c.every, time.Minute),
			Help: "write reports as Parquet files when they have waited for this time"},
		cli.Option{Name: "no-maintenance", Flag: cli.Yes(&c.noMaintenance),
			Help: "leave it to another collector to merge files and to remove what is too old"},
	), c.namingOptions(), cli.Grouped("Configuration of apps",
		cli.Option{Name: "config", Flag: cli.Text(&c.config, ""), File: cli.FileRead,
			Help: "serve the properties in `FILE`, or those in the files *.properties of a directory"},
		cli.Option{Name: "config-key", Flag: cli.Text(&c.configKey, ""), File: cli.FileRead,
			Help: "sign them with the private key in `FILE`, PEM, of the curve P-256"},
	))
}

func (c *collecting) namingOptions() []cli.Option {
	c.naming.Flag = cli.Text(&c.naming.Mapping, "")
	return cli.Grouped("Names",
		cli.Option{Name: "mapping", Flag: c.naming.Flag, File: cli.FileRead,
			Help: "method mapping `FILE`, a directory with the mappings of many builds, or an archive, see tracegen help " +
				"mappings"},
		cli.Option{Name: "r8-mapping", Flag: cli.Text(&c.naming.R8, ""), File: cli.FileRead,
			Help: "restore names in stacks by this mapping `FILE` of R8 or ProGuard"},
	)
}

// check returns an error for options that do not go together.
func (c *collecting) check() error {
	switch {
	case c.store == "":
		return cli.Misuse("no --store given")
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return cli.Misuse("--tls-cert and --tls-key need each other")
	case (c.config == "") != (c.configKey == ""):
		return cli.Misuse("--config and --config-key need each other: apps take only what is signed")
	case c.keepDays < 0 || c.keepDays > 3650:
		return cli.Misuse("--keep-days %d: must be between 0 and 3650", c.keepDays)
	case c.every < time.Second || c.every > 24*time.Hour:
		return cli.Misuse("--every %s: must be between 1s and 24h", c.every)
	}
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return cli.Misuse("--listen: %w", err)
	}
	if ip := net.ParseIP(host); c.tokenFile == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return cli.Misuse("--listen %s: other machines reach this address, and there is no --token-file; give one, or "+
			"listen on 127.0.0.1", c.listen)
	}
	return nil
}

func (c *collecting) run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	o := collect.Options{MaxBytes: int64(c.maxStore), KeepDays: c.keepDays, Every: c.every, Log: c.walDir(),
		NoMaintenance: c.noMaintenance,
		Warn:          func(err error) { c.say(c.con.Warn, "%v", err) }}
	if c.naming.Mapping != "" {
		o.Names = func(digest string) (*resolve.Names, error) { return c.names(ctx, digest) }
	}
	if c.naming.R8 != "" {
		var err error
		if o.R8, err = r8.Load(c.naming.R8); err != nil {
			return err
		}
	}
	ctx, stop := cli.CanceledBy(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	settings, err := c.load()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer l.Close()
	store, err := collect.Open(c.store, o)
	if err != nil {
		return err
	}
	server := collect.NewServer(store, collect.ServerOptions{MaxBody: maxBody, MaxReport: maxReport,
		MaxRecording: maxRecording, Packages: c.packages})
	c.apply(server, settings)
	scheme := "http"
	if c.tlsCert != "" {
		scheme = "https"
		l = tls.NewListener(l, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.certificate.Load(), nil
		}})
	} else if c.tokenFile != "" {
		c.say(c.con.Warn, "without --tls-cert, tokens and reports are sent as plain text; have a proxy in front of it "+
			"that serves HTTPS")
	}
	c.say(c.con.Inform, "listening on %s://%s, storing in %s", scheme, l.Addr(), c.store)
	if settings.key != nil {
		public, err := collect.PublicKey(settings.key)
		if err != nil {
			return err
		}
		c.say(c.con.Inform, "configurations are signed; apps need the public key %s", public)
	}
	go c.reload(ctx, hangup, server)
	err = server.Serve(ctx, l)
	if closed := store.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
	case store.Unfinished():
		c.say(c.con.Inform, "stopped; all that was received is stored, and the next start writes the rest of it as Parquet")
	default:
		c.say(c.con.Inform, "stopped; all that was received is stored")
	}
	return err
}

// walDir returns the directory of the write-ahead log; empty for that of a store that is a directory.
func (c *collecting) walDir() string {
	if c.wal == "" && objects.IsRemote(c.store) {
		return "tracegen-wal"
	}
	return c.wal
}

// say prints a message. Several goroutines do.
func (c *collecting) say(print func(string, ...any), format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	print(format, args...)
}

// settings are what is read again at SIGHUP.
type settings struct {
	tokens      []string
	configs     *collect.Configs
	key         *ecdsa.PrivateKey
	certificate *tls.Certificate
}

// load reads the files of the settings, all or none.
func (c *collecting) load() (s settings, err error) {
	if c.tokenFile != "" {
		text, err := userfile.ReadSettings(c.tokenFile)
		if err == nil {
			s.tokens, err = collect.ParseTokens(string(text))
		}
		if err != nil {
			return s, fmt.Errorf("--token-file %s: %w", c.tokenFile, err)
		}
	}
	if c.configKey != "" {
		if s.key, err = collect.LoadKey(c.configKey); err != nil {
			return s, err
		}
		if err := collect.CheckKeyMode(c.configKey); err != nil {
			return s, err
		}
		if s.configs, err = collect.LoadConfigs(c.config, s.key); err != nil {
			return s, err
		}
		for _, file := range s.configs.Expired(time.Now()) {
			c.say(c.con.Warn, "configuration %s has expired and is not served; give it a later expires", file)
		}
	}
	if c.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(c.tlsCert, c.tlsKey)
		if err != nil {
			return s, fmt.Errorf("--tls-cert %s: %w", c.tlsCert, err)
		}
		s.certificate = &pair
	}
	return s, nil
}

func (c *collecting) apply(server *collect.Server, s settings) {
	server.SetTokens(s.tokens)
	server.SetConfigs(s.configs)
	c.certificate.Store(s.certificate)
}

// reload reads the settings again at each signal.
func (c *collecting) reload(ctx context.Context, hangup <-chan os.Signal, server *collect.Server) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s, err := c.load()
			if err != nil {
				c.say(c.con.Warn, "%v; tokens, certificate and configuration stay as they were", err)
				continue
			}
			c.apply(server, s)
			c.say(c.con.Inform, "tokens, certificate and configuration were read again")
		}
	}
}

const (
	// openFor is for how long the list of mappings is used, and openBuilds how many of them are in memory.
	openFor    = time.Minute
	openBuilds = 4
)

// names returns the names of a build, nil if its mapping is not there. The mappings are opened anew from time to time,
// as more come.
func (c *collecting) names(ctx context.Context, digest string) (*resolve.Names, error) {
	if c.opened == nil || time.Since(c.openedAt) > openFor || len(c.opened.Loaded()) >= openBuilds {
		o, missing, err := c.naming.Open(ctx, c.con)
		if err != nil {
			return nil, err
		}
		if missing != nil {
			return nil, missing
		}
		c.opened, c.openedAt = o.Mappings, time.Now()
	}
	if c.opened == nil {
		return nil, nil
	}
	names, found, err := c.opened.Find("", digest, false)
	if errors.As(err, new(*resolve.MismatchError)) || err == nil && !found {
		return nil, nil
	}
	return names, err
}
