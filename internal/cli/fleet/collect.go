package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/fleet/devicereport"
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
tracegen group reads the store, and so do DuckDB, Spark and ClickHouse: the reports are
Parquet files. Any number of collectors may write to one store.

A request needs one of the tokens in --token-file. Without tokens, collect listens on
addresses of this machine only. A client that sends more than --address-rate is asked to
come again later, but not a program on this machine. Without --mapping, the Parquet files
have IDs in place of the names of methods. A mapping may also come later than the reports of
its build.

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
	packages, proxies          []string
	networks                   []netip.Prefix // of the proxies
	addressRate, tokenRate     int
	metrics                    string
	knownBuilds                bool
	maxStore                   cli.ByteSize
	keepDays                   int
	noMaintenance              bool
	every                      time.Duration
	naming                     cli.Naming
	log                        *slog.Logger
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
		cli.Option{Name: "builds", Flag: cli.OneOf(&c.knownBuilds, false, cli.Word("all", false), cli.Word("known", true)),
			Help: "take what is of all builds, or of those alone whose mapping --mapping has"},
		cli.Option{Name: "address-rate", Flag: cli.Number(&c.addressRate, 200),
			Help: "take `N` reports a second from an address, and " + strconv.Itoa(collect.Burst) +
				" times as many at once; 0 for no limit"},
		cli.Option{Name: "token-rate", Flag: cli.Number(&c.tokenRate, 0),
			Help: "the same for each token; `N` is 0 for no limit"},
		cli.Option{Name: "proxy", Flag: cli.Texts(&c.proxies),
			Help: "a proxy or balancer stands before the collector, at this `ADDRESS` or network: its header " +
				"X-Forwarded-For has the address that the limit is for; repeatable"},
		cli.Option{Name: "metrics", Flag: cli.Text(&c.metrics, ""),
			Help: "serve metrics for Prometheus at http://`ADDRESS`/metrics, without a token"},
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
	case c.addressRate < 0 || c.tokenRate < 0:
		return cli.Misuse("--address-rate and --token-rate must not be negative")
	case c.knownBuilds && c.naming.Mapping == "":
		return cli.Misuse("--builds known needs --mapping")
	case c.every < time.Second || c.every > 24*time.Hour:
		return cli.Misuse("--every %s: must be between 1s and 24h", c.every)
	}
	for _, name := range c.packages {
		if !devicereport.IsPackage(name) {
			return cli.Misuse("--package %q: must be the name of an app's package, as com.example.app", name)
		}
	}
	for _, text := range c.proxies {
		network, err := collect.ParseProxy(text)
		if err != nil {
			return cli.Misuse("--proxy %s: %w", text, err)
		}
		c.networks = append(c.networks, network)
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

// stopTime is how long the collector may take to stop, whatever hangs: service managers kill after ten seconds. What it
// has answered with 200 is on the disk, so nothing is lost.
const stopTime = 9500 * time.Millisecond

func (c *collecting) run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, stop := cli.CanceledBy(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.log = c.con.Logger()
	return stopInTime(ctx, c.serve)
}

// stopInTime returns when serve does, or a while after the context was canceled.
func stopInTime(ctx context.Context, serve func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(stopTime):
		return fmt.Errorf("the collector did not stop within %s and was ended; all that it answered with 200 is on its "+
			"disk, and the next start completes it", stopTime)
	}
}

// serve opens the store, and answers requests until the context is canceled.
func (c *collecting) serve(ctx context.Context) error {
	journal := collect.NewJournal(c.log)
	o := collect.Options{MaxBytes: int64(c.maxStore), KeepDays: c.keepDays, Every: c.every, Log: c.walDir(),
		NoMaintenance: c.noMaintenance, Warn: journal.Fault}
	if c.naming.Mapping != "" {
		o.Names = func(digest string) (*resolve.Names, error) { return c.names(ctx, digest) }
	}
	if c.naming.R8 != "" {
		var err error
		if o.R8, err = r8.Load(c.naming.R8); err != nil {
			return err
		}
	}
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
		MaxRecording: maxRecording, Packages: c.packages, AddressRate: c.addressRate, TokenRate: c.tokenRate,
		Proxies: c.networks, Journal: journal})
	c.apply(server, settings)
	err = c.beside(ctx, server)
	if err == nil {
		err = c.announce(l, settings)
	}
	if err == nil {
		go c.reload(ctx, hangup, server)
		err = server.Serve(ctx, l)
	}
	if closed := store.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
	case store.Unfinished():
		c.log.Info("stopped; all that was received is stored, and the next start writes the rest of it as Parquet")
	default:
		c.log.Info("stopped; all that was received is stored")
	}
	return err
}

// beside starts what the collector does beside answering apps: it serves metrics, and finds out which builds are known.
func (c *collecting) beside(ctx context.Context, server *collect.Server) error {
	if c.knownBuilds {
		if err := c.findBuilds(ctx, server); err != nil {
			return err
		}
		go func() {
			again := time.NewTicker(openFor)
			defer again.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-again.C:
					if err := c.findBuilds(ctx, server); err != nil && ctx.Err() == nil {
						c.log.Warn(err.Error() + "; the builds that are known stay as they were")
					}
				}
			}
		}()
	}
	if c.metrics == "" {
		return nil
	}
	l, err := net.Listen("tcp", c.metrics)
	if err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	c.log.Info(fmt.Sprintf("metrics are at http://%s/metrics", l.Addr()))
	go func() {
		defer l.Close()
		if err := server.ServeMetrics(ctx, l); err != nil {
			c.log.Warn(fmt.Sprintf("--metrics: %v", err))
		}
	}()
	return nil
}

// findBuilds has the server take what is of builds whose mapping is there.
func (c *collecting) findBuilds(ctx context.Context, server *collect.Server) error {
	digests, err := c.naming.Digests(ctx, c.con)
	if err == nil {
		server.SetBuilds(digests)
	}
	return err
}

// announce says where the collector listens, and what apps need.
func (c *collecting) announce(l net.Listener, s settings) error {
	scheme := "http"
	if c.tlsCert != "" {
		scheme = "https"
	} else if c.tokenFile != "" {
		c.log.Warn("without --tls-cert, tokens and reports are sent as plain text; have a proxy in front of it that " +
			"serves HTTPS")
	}
	c.log.Info(fmt.Sprintf("listening on %s://%s, storing in %s", scheme, l.Addr(), c.store))
	if s.key == nil {
		return nil
	}
	public, err := collect.PublicKey(s.key)
	if err == nil {
		c.log.Info("configurations are signed; apps need the public key " + public)
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
			c.log.Warn(fmt.Sprintf("configuration %s has expired and is not served; give it a later expires", file))
		}
	}
	if c.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(c.tlsCert, c.tlsKey)
		if err != nil {
			return s, fmt.Errorf("--tls-cert %s: %w", c.tlsCert, err)
		}
		if err := collect.CheckKeyMode(c.tlsKey); err != nil {
			return s, err
		}
		if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
			c.log.Warn(fmt.Sprintf("--tls-cert %s is valid from %s to %s, and not now; apps send nothing", c.tlsCert,
				pair.Leaf.NotBefore.UTC().Format(time.DateTime), pair.Leaf.NotAfter.UTC().Format(time.DateTime)))
		}
		s.certificate = &pair
	}
	return s, nil
}

func (c *collecting) apply(server *collect.Server, s settings) {
	server.SetTokens(s.tokens)
	server.SetConfigs(s.configs)
	server.SetCertificate(s.certificate)
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
				c.log.Warn(err.Error() + "; tokens, certificate and configuration stay as they were")
				continue
			}
			c.apply(server, s)
			c.log.Info("tokens, certificate and configuration were read again")
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
