package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

func newCollectCmd(con *console) *cobra.Command {
	c := collecting{con: con, maxBody: 2 << 20, maxReport: 256 << 10, maxRecording: 256 << 20, maxStore: 20 << 30}
	cmd := &cobra.Command{
		Use:   "collect --store DIR",
		Short: "Receive the reports and recordings that apps send",
		Long: `collect is a small HTTP server. Apps send it reports of stalls and incidents, and
recordings; it stores them in a directory, and serves their configuration. tracegen group
reads the directory, and so do DuckDB, Spark and BigQuery: the reports are Parquet files.

A request needs one of the tokens in --token-file. Without tokens, collect listens on
addresses of this machine only. Without --mapping, the Parquet files have IDs in place of
the names of methods. A mapping may also come later than the reports of its build.

SIGTERM or SIGINT makes collect store what has arrived, and end. SIGHUP makes it read the
files with tokens, certificate and configuration again; if one has an error, all stay as
they are. docs/collect.md describes the protocol, the directory, and the queries.`,
		Example: `  tracegen collect --store collected/
  tracegen collect --store collected/ --mapping mappings/ --listen :8377 --token-file tokens.txt \
    --tls-cert cert.pem --tls-key key.pem --config config/ --config-key signing.pem
  tracegen collect keygen -o signing.pem`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	c.options().addTo(cmd, 0)
	cmd.AddCommand(newKeygenCmd(con))
	return cmd
}

// collecting holds the options of the command.
type collecting struct {
	con                              *console
	listen, store                    string
	tokenFile, tlsCert, tlsKey       string
	config, configKey                string
	packages                         []string
	maxBody, maxReport, maxRecording byteSize
	maxStore                         byteSize
	keepDays                         int
	every                            time.Duration
	naming                           naming
	mu                               sync.Mutex // held while a message is printed
	certificate                      atomic.Pointer[tls.Certificate]
	opened                           *resolve.Mappings
	openedAt                         time.Time
}

func (c *collecting) options() options {
	c.naming.flag = text(&c.naming.mapping, "")
	return newOptions(grouped("Server",
		option{name: "listen", flag: text(&c.listen, "127.0.0.1:8377"), help: "listen on `ADDRESS`, HOST:PORT"},
		option{name: "token-file", flag: text(&c.tokenFile, ""), file: fileRead,
			help: "requests must have a token of `FILE`, which has one on a line"},
		option{name: "tls-cert", flag: text(&c.tlsCert, ""), file: fileRead,
			help: "serve HTTPS with the certificate in `FILE`, PEM"},
		option{name: "tls-key", flag: text(&c.tlsKey, ""), file: fileRead, help: "the certificate's key in `FILE`, PEM"},
		option{name: "package", flag: texts(&c.packages), help: "take what is of this `PACKAGE` only; repeatable"},
	), grouped("Store",
		option{name: "store", flag: text(&c.store, ""), file: fileCache, extensions: onlyDirectories,
			help: "store in the directory `DIR`"},
		option{name: "keep-days", flag: number(&c.keepDays, 90), help: "remove what is older than `N` days; 0 keeps all"},
		option{name: "max-store", flag: custom(&c.maxStore), help: "take nothing more when the directory has this size"},
		option{name: "every", flag: duration(&c.every, time.Minute),
			help: "write reports as Parquet files when they have waited for this time"},
	), grouped("Limits of requests",
		option{name: "max-body", flag: custom(&c.maxBody), help: "size of a compressed body with reports"},
		option{name: "max-report", flag: custom(&c.maxReport), help: "size of one report"},
		option{name: "max-recording", flag: custom(&c.maxRecording), help: "size of a part of a recording"},
	), grouped("Names",
		option{name: "mapping", flag: c.naming.flag, file: fileRead,
			help: "method mapping `FILE`, a directory with the mappings of many builds, or an archive, see tracegen help " +
				"mappings"},
		option{name: "r8-mapping", flag: text(&c.naming.r8, ""), file: fileRead, extensions: []string{"txt"},
			help: "restore names in stacks by this mapping `FILE` of R8 or ProGuard"},
	), grouped("Configuration of apps",
		option{name: "config", flag: text(&c.config, ""), file: fileRead,
			help: "serve the properties in `FILE`, or those in the files *.properties of a directory"},
		option{name: "config-key", flag: text(&c.configKey, ""), file: fileRead,
			help: "sign them with the private key in `FILE`, PEM; tracegen collect keygen makes one"},
	))
}

// check returns an error for options that do not go together.
func (c *collecting) check() error {
	switch {
	case c.store == "":
		return misuse("no --store given")
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return misuse("--tls-cert and --tls-key need each other")
	case (c.config == "") != (c.configKey == ""):
		return misuse("--config and --config-key need each other: apps take only what is signed")
	case c.keepDays < 0 || c.keepDays > 3650:
		return misuse("--keep-days %d: must be between 0 and 3650", c.keepDays)
	case c.every < time.Second || c.every > 24*time.Hour:
		return misuse("--every %s: must be between 1s and 24h", c.every)
	case c.maxBody > 64<<20:
		return misuse("--max-body %s: must not be more than 64MiB", c.maxBody.String())
	}
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return misuse("--listen: %w", err)
	}
	if ip := net.ParseIP(host); c.tokenFile == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return misuse("--listen %s: other machines reach this address, and there is no --token-file; give one, or listen on "+
			"127.0.0.1", c.listen)
	}
	return nil
}

func (c *collecting) run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	o := collect.Options{MaxBytes: int64(c.maxStore), KeepDays: c.keepDays, Every: c.every,
		Warn: func(err error) { c.say(c.con.warn, "%v", err) }}
	if c.naming.mapping != "" {
		o.Names = func(digest string) (*resolve.Names, error) { return c.names(ctx, digest) }
	}
	if c.naming.r8 != "" {
		var err error
		if o.R8, err = r8.Load(c.naming.r8); err != nil {
			return err
		}
	}
	ctx, stop := canceledBy(ctx, os.Interrupt, syscall.SIGTERM)
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
	server := collect.NewServer(store, collect.ServerOptions{MaxBody: int64(c.maxBody), MaxReport: int64(c.maxReport),
		MaxRecording: int64(c.maxRecording), Packages: c.packages})
	c.apply(server, settings)
	scheme := "http"
	if c.tlsCert != "" {
		scheme = "https"
		l = tls.NewListener(l, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.certificate.Load(), nil
		}})
	} else if c.tokenFile != "" {
		c.say(c.con.warn, "without --tls-cert, tokens and reports are sent as plain text; have a proxy in front of it "+
			"that serves HTTPS")
	}
	c.say(c.con.inform, "listening on %s://%s, storing in %s", scheme, l.Addr(), c.store)
	if settings.key != nil {
		public, err := collect.PublicKey(settings.key)
		if err != nil {
			return err
		}
		c.say(c.con.inform, "configurations are signed; apps need the public key %s", public)
	}
	go c.reload(ctx, hangup, server)
	err = server.Serve(ctx, l)
	if closed := store.Close(); err == nil {
		err = closed
	}
	if err == nil {
		c.say(c.con.inform, "stopped; all that was received is stored")
	}
	return err
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
		text, err := userfile.ReadText(c.tokenFile)
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
		if s.configs, err = collect.LoadConfigs(c.config, s.key); err != nil {
			return s, err
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
				c.say(c.con.warn, "%v; tokens, certificate and configuration stay as they were", err)
				continue
			}
			c.apply(server, s)
			c.say(c.con.inform, "tokens, certificate and configuration were read again")
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
		o, missing, err := c.naming.open(ctx, c.con)
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

func newKeygenCmd(con *console) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "keygen -o FILE",
		Short: "Make a key that signs the configuration of apps",
		Long: `keygen writes a private key of the curve P-256 to a new file, which only its owner can
read, and prints the public key: the app must have it to accept configurations.`,
		Example: `  tracegen collect keygen -o signing.pem`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if output == "" {
				return misuse("no --output given")
			}
			text, key, err := collect.NewKey()
			if err != nil {
				return err
			}
			public, err := collect.PublicKey(key)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return fmt.Errorf("a key is not overwritten: %w", err)
			}
			_, err = f.Write(text)
			if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
				os.Remove(output)
				return fmt.Errorf("write %s: %w", output, err)
			}
			_, err = io.WriteString(con.out, public+"\n")
			return err
		},
	}
	newOptions([]option{{name: "output", short: "o", flag: text(&output, ""), file: fileOutput,
		help: "write the private key to `FILE`"}}).addTo(cmd, 0)
	return cmd
}
