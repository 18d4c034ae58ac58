package collect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
)

// The headers of a request with a recording.
const (
	headerPackage = "Tracegen-Package"
	headerMapping = "Tracegen-Mapping"
	headerSHA256  = "Tracegen-Sha256"
)

const (
	// maxConnections limits connections, maxMetricsConnections those for metrics, and maxUploads recordings that arrive at
	// the same time.
	maxConnections        = 1024
	maxMetricsConnections = 16
	maxUploads            = 128
	// restTime is how long a client may send what is not read.
	restTime = time.Second
	// shutdownTime is how long requests that are in progress may take when the collector stops. With [closeTime] of the
	// store it is below the ten seconds after which service managers kill.
	shutdownTime = 4 * time.Second
	// maxHeader limits the header of a request, in bytes.
	maxHeader = 16 << 10
	// retryBusy and retryFull are after how many seconds a client should come again.
	retryBusy = 5
	retryFull = 3600
)

// ServerOptions are those of a [Server].
type ServerOptions struct {
	// MaxBody limits the compressed body of a request with reports, and MaxReport one report; MaxRecording limits a part
	// of a recording, compressed and inflated. All are in bytes.
	MaxBody, MaxReport, MaxRecording int64
	// Packages are those whose reports and recordings are taken; empty for all.
	Packages []string
	// AddressRate and TokenRate are how many reports a second an address and a token may send for long; 0 for no limit.
	// Without AddressRate, the requests of an address at a time have no limit either: a balancer may have one address for
	// all clients.
	AddressRate, TokenRate int
	// Proxies are the networks of proxies, whose header X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// Journal gets what operators should know; nil for nothing.
	Journal *Journal
}

// Server answers the requests of apps. It is safe for several goroutines.
type Server struct {
	ServerOptions
	store    *Store
	mux      http.ServeMux
	began    time.Time
	packages map[string]bool

	// What is read again at SIGHUP, and the builds, which are read more often.
	tokens      atomic.Pointer[[][sha256.Size]byte]
	configs     atomic.Pointer[Configs]
	certificate atomic.Pointer[tls.Certificate]
	builds      atomic.Pointer[map[string]bool]

	// The limits. arriving is for the bytes of bodies that clients send, which may take long, and bodies for inflated
	// ones, which no client can keep.
	arriving, bodies   *budget
	uploads            chan struct{}
	addresses, senders *meter
	slots              slots

	figures  *figures
	listener atomic.Pointer[limited]
	stopping atomic.Bool

	// As the constants of these names, but in tests.
	deadlines   deadlines
	connections int
}

// NewServer returns a server that stores in store. It accepts requests without a token until SetTokens is called.
func NewServer(store *Store, o ServerOptions) *Server {
	began := time.Now()
	now := func() time.Duration { return time.Since(began) } // does not follow changes of the clock
	if o.Journal == nil {
		o.Journal = NewJournal(slog.New(slog.DiscardHandler))
	}
	s := &Server{ServerOptions: o, store: store, began: began, packages: map[string]bool{},
		arriving: newBudget(bodyBudget), bodies: newBudget(bodyBudget), uploads: make(chan struct{}, maxUploads),
		addresses: newMeter(float64(o.AddressRate), now), senders: newMeter(float64(o.TokenRate), now),
		slots: slots{taken: map[string]int{}}, figures: newFigures(),
		deadlines: usual, connections: maxConnections}
	if o.AddressRate > 0 {
		s.slots.most = slotsOfAddress
	}
	for _, p := range o.Packages {
		s.packages[p] = true
	}
	s.mux.HandleFunc("POST /v1/reports", s.guarded(1, s.reports))
	s.mux.HandleFunc("PUT /v1/recordings/{recording}/{part}", s.guarded(uploadSlots, s.recording))
	s.mux.HandleFunc("GET /v1/config", s.config)
	s.mux.HandleFunc("GET /healthz", s.health)
	s.mux.HandleFunc("GET /readyz", s.ready)
	return s
}

// SetTokens replaces the tokens, one of which a request must have. Without any, requests need none.
func (s *Server) SetTokens(tokens []string) {
	sums := make([][sha256.Size]byte, 0, len(tokens))
	for _, t := range tokens {
		sums = append(sums, sha256.Sum256([]byte(t)))
	}
	s.tokens.Store(&sums)
}

// SetConfigs replaces the configurations; nil for none.
func (s *Server) SetConfigs(c *Configs) { s.configs.Store(c) }

// SetCertificate replaces the certificate. A server that has none when it begins to serve does so without TLS.
// Connections that are open stay as they are.
func (s *Server) SetCertificate(c *tls.Certificate) { s.certificate.Store(c) }

// SetBuilds replaces the digests of the mappings of which reports and recordings are taken; nil for all.
func (s *Server) SetBuilds(digests map[string]bool) { s.builds.Store(&digests) }

// ServeHTTP answers a request. An unknown path is answered with 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &answered{ResponseWriter: w, status: http.StatusOK}
	s.route(seen, r)
	path := "other"
	switch {
	case r.Pattern == "":
	case strings.HasPrefix(r.Pattern, "PUT "):
		path = "recordings"
	default:
		path = r.Pattern[strings.LastIndexByte(r.Pattern, '/')+1:]
	}
	s.figures.add(countRequests, 1, "path", path, "code", strconv.Itoa(seen.status))
}

// answered notes the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	// The mux would answer a path with "..", "." or "//" with the address of a clean one.
	if strings.Contains(r.URL.Path, "//") || strings.Contains(r.URL.Path, "/.") {
		fail(w, refused(http.StatusNotFound, "there is nothing under this path"))
		return
	}
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength != 0 {
		fail(w, refused(http.StatusBadRequest, "a request of this kind has no body"))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Serve answers requests on the listener until the context is canceled; then it completes those that are in progress,
// for at most shutdownTime.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	limits := newLimited(l, s.connections, s.deadlines, func(why string) { s.figures.add(countClosed, 1, "why", why) })
	s.listener.Store(limits)
	l = limits
	if s.certificate.Load() != nil {
		l = tls.NewListener(l, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.certificate.Load(), nil
		}})
	}
	defer s.Journal.flush()
	return s.serve(ctx, l, limits, s)
}

// ServeMetrics answers scrapes of Prometheus on a listener of their own, until the context is canceled.
func (s *Server) ServeMetrics(ctx context.Context, l net.Listener) error {
	var mux http.ServeMux
	mux.HandleFunc("GET /metrics", s.metrics)
	limits := newLimited(l, maxMetricsConnections, s.deadlines, func(string) {})
	return s.serve(ctx, limits, limits, &mux)
}

// serve serves a handler. HTTP/2 is off: one connection of it would be many requests, which the limits of connections
// do not count, and an app sends one request at a time.
func (s *Server) serve(ctx context.Context, l net.Listener, limits *limited, handler http.Handler) error {
	h := &http.Server{Handler: handler, MaxHeaderBytes: maxHeader, ConnContext: withConnection, ConnState: limits.state,
		Protocols: new(http.Protocols), ErrorLog: log.New(s.Journal, "", 0)}
	h.Protocols.SetHTTP1(true)
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	limits.stop(false)
	err := h.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		limits.stop(true)
		err = h.Close()
	}
	<-ended
	return err
}

// fail answers with an error, and returns the status.
func fail(w http.ResponseWriter, err error) int {
	status, why := http.StatusServiceUnavailable, err.Error()
	of := (*statusError)(nil)
	retry := 0
	switch {
	case errors.As(err, &of):
		status, retry = of.status, of.retry
	case errors.Is(err, ErrBusy):
		status, retry = http.StatusTooManyRequests, retryBusy
	case errors.Is(err, ErrFull):
		status, retry = http.StatusTooManyRequests, retryFull
	case errors.Is(err, ErrOther):
		status = http.StatusConflict
	case errors.As(err, new(*ContentError)):
		status = http.StatusBadRequest
	case !errors.Is(err, ErrClosed) && !errors.Is(err, ErrClock):
		why = "the collector cannot store this now" // the reason is for its operator
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		retry = max(retry, retryBusy)
	}
	if retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retry))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	// What is left of the body is not read.
	w.Header().Set("Connection", "close")
	deadline(w, restTime)
	answerJSON(w, status, map[string]string{"error": why})
	return status
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// visit is an admitted request. Its cost is as how many reports it counts.
type visit struct {
	address string
	cost    int
}

// guarded returns a handler that refuses requests without a token, and those of clients that are over a limit. The
// others take some of the slots of their address.
func (s *Server) guarded(slots int, handle func(http.ResponseWriter, *http.Request, *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from := &visit{address: s.client(r), cost: 1}
		if err := s.admitted(from, slots, w, r, handle); err != nil {
			s.refuse(w, r, from.address, err)
		}
	}
}

// refuse answers with an error, and counts and logs it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, address string, err error) {
	status := fail(w, err)
	if limit := limitOf(err, status); limit != "" {
		s.figures.add(countRefusals, 1, "limit", limit)
		s.Journal.warn("requests were refused: "+limit, 1, "address", address)
	} else if status >= http.StatusInternalServerError && !errors.Is(err, ErrClosed) {
		s.Journal.warn("requests failed: "+r.Pattern, 1, "error", err.Error())
	}
}

func (s *Server) admitted(from *visit, slots int, w http.ResponseWriter, r *http.Request,
	handle func(http.ResponseWriter, *http.Request, *visit) error) error {
	if wait := s.addresses.use(from.address, 0); wait > 0 {
		return tooMany(wait, limitAddress)
	}
	token, ok := s.token(r)
	if !ok {
		s.addresses.use(from.address, guessCost)
		return refused(http.StatusUnauthorized, "the header Authorization does not have a token of this collector")
	}
	if wait := s.senders.use(token, 0); wait > 0 {
		return tooMany(wait, limitToken)
	}
	give, ok := s.slots.take(from.address, slots)
	if !ok {
		return tooMany(0, limitSlots)
	}
	defer give()
	defer admit(r.Context())()
	defer func() {
		s.addresses.use(from.address, from.cost)
		s.senders.use(token, from.cost)
	}()
	return handle(w, r, from)
}

// token returns what stands for the token of a request; empty if none is needed. It compares the token with all, in a
// time that does not depend on them.
func (s *Server) token(r *http.Request) (which string, ok bool) {
	tokens := s.tokens.Load()
	if tokens == nil || len(*tokens) == 0 {
		return "", true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := 0
	for i := range *tokens {
		found |= subtle.ConstantTimeCompare(sum[:], (*tokens)[i][:])
	}
	return string(sum[:]), found == 1 && strings.EqualFold(scheme, "Bearer")
}

// refusal is a report that is not stored, and why.
type refusal struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// outcome is the answer to a request with reports.
type outcome struct {
	Accepted   int       `json:"accepted"`
	Duplicates int       `json:"duplicates"`
	Refused    []refusal `json:"refused"`
}

func (s *Server) reports(w http.ResponseWriter, r *http.Request, from *visit) error {
	if r.ContentLength > s.MaxBody {
		return refused(http.StatusRequestEntityTooLarge, "the body has %d bytes, and at most %d are taken; send less at a "+
			"time", r.ContentLength, s.MaxBody)
	}
	deadline(w, s.deadlines.body)
	packed, kept, err := receive(http.MaxBytesReader(w, r.Body, s.MaxBody), s.arriving)
	defer func() { s.arriving.put(kept) }()
	s.figures.add(countBytes, float64(len(packed)))
	if err != nil {
		return err
	}
	arrived(r.Context())
	began := time.Now()
	in, err := inflate(bytes.NewReader(packed), r.Header.Get("Content-Encoding"), maxInflated*s.MaxBody)
	if err != nil {
		return err
	}
	text, taken, err := readText(in, s.bodies)
	defer func() { s.bodies.put(taken) }()
	from.cost += int(in.total / bytesOfReport)
	if err != nil {
		return err
	}
	accepted, o, err := s.parse(text)
	if err != nil {
		return err
	}
	from.cost = max(from.cost, len(accepted)+len(o.Refused))
	added, err := s.store.Add(accepted)
	if err != nil {
		return err
	}
	o.Accepted, o.Duplicates = added, len(accepted)-added
	s.figures.add(countReports, float64(o.Accepted), "result", "accepted")
	s.figures.add(countReports, float64(o.Duplicates), "result", "duplicate")
	if n := len(o.Refused); n > 0 {
		s.figures.add(countReports, float64(n), "result", "refused")
		s.Journal.warn("reports were refused", n, "why", o.Refused[0].Why)
	}
	s.figures.took(time.Since(began))
	answerJSON(w, http.StatusOK, o)
	return nil
}

// parse reads the reports of a body.
func (s *Server) parse(text string) ([]Accepted, outcome, error) {
	o := outcome{Refused: []refusal{}}
	var accepted []Accepted
	number, reports := 0, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.Trim(line, " \t") == "" {
			continue
		}
		if reports++; reports > maxReports {
			return nil, o, refused(http.StatusRequestEntityTooLarge, "the body has more than %d reports; send less at a time",
				maxReports)
		}
		if int64(len(line)) > s.MaxReport {
			id, err := devicereport.ID(line)
			if err != nil {
				return nil, o, refused(http.StatusBadRequest, "line %d: %s", number, err)
			}
			o.Refused = append(o.Refused, refusal{id, fmt.Sprintf("the report has %d bytes; at most %d are taken", len(line),
				s.MaxReport)})
			continue
		}
		r, err := devicereport.Parse(line)
		invalid := (*devicereport.InvalidError)(nil)
		switch {
		case errors.As(err, &invalid):
			o.Refused = append(o.Refused, refusal{invalid.ID, invalid.Why})
		case err != nil:
			return nil, o, refused(http.StatusBadRequest, "line %d: %s", number, err)
		case s.takes(r.Package, r.Mapping) != "":
			o.Refused = append(o.Refused, refusal{r.ID, s.takes(r.Package, r.Mapping)})
		default:
			accepted = append(accepted, Accepted{r.ID, r.Package, r.Mapping, line})
		}
	}
	if reports == 0 {
		return nil, o, refused(http.StatusBadRequest, "the body has no report")
	}
	return accepted, o, nil
}

// takes returns why the collector does not take what is of a package and of the build with a mapping; empty if it does.
func (s *Server) takes(app, mapping string) string {
	if len(s.packages) > 0 && !s.packages[app] {
		return "the collector takes nothing of this package"
	}
	if builds := s.builds.Load(); builds != nil && *builds != nil && !(*builds)[mapping] {
		return "the collector has no mapping of this build"
	}
	return ""
}

func (s *Server) recording(w http.ResponseWriter, r *http.Request, from *visit) error {
	number, err := parsePart(r.PathValue("part"))
	if err != nil {
		return refused(http.StatusBadRequest, "%s", err)
	}
	p := Part{Package: r.Header.Get(headerPackage), Mapping: r.Header.Get(headerMapping),
		Recording: r.PathValue("recording"), Number: number, SHA256: strings.ToLower(r.Header.Get(headerSHA256))}
	if err := p.check(); err != nil {
		return refused(http.StatusBadRequest, "%s", err)
	}
	if why := s.takes(p.Package, p.Mapping); why != "" {
		return refused(http.StatusBadRequest, "%s", why)
	}
	if r.ContentLength > s.MaxRecording {
		return refused(http.StatusRequestEntityTooLarge, "the body has %d bytes; at most %d are taken", r.ContentLength,
			s.MaxRecording)
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return tooMany(0, limitUploads)
	}
	body := &patient{body: http.MaxBytesReader(w, r.Body, s.MaxRecording), request: r, w: w, began: time.Now(),
		deadlines: s.deadlines}
	defer func() {
		from.cost += int(body.n / bytesOfPart)
		s.figures.add(countBytes, float64(body.n))
	}()
	in, err := inflate(body, r.Header.Get("Content-Encoding"), s.MaxRecording)
	if err != nil {
		return err
	}
	err = s.store.AddRecording(p, in)
	if err == nil {
		answerJSON(w, http.StatusOK, map[string]string{"stored": p.Recording})
	}
	return err
}

// deadline sets until when the body of a request must have arrived.
func deadline(w http.ResponseWriter, in time.Duration) {
	// A writer of a test has no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(in))
}

// patient is the body of a recording. It may take long, but not longer than at leastRate, and no pause may be longer
// than the time that a body has.
type patient struct {
	body      io.Reader
	request   *http.Request
	w         http.ResponseWriter
	began     time.Time
	n         int64
	deadlines deadlines
}

// leastRate is how many bytes a second of a recording must arrive, after the time that a body has in any case.
const leastRate = 16 << 10

// Read reads within the time that is left.
func (p *patient) Read(b []byte) (int, error) {
	left := time.Until(p.began.Add(p.deadlines.body + time.Duration(p.n/leastRate)*time.Second))
	left = min(p.deadlines.body, left)
	deadline(p.w, left)
	within(p.request.Context(), max(0, left)+p.deadlines.answer)
	n, err := p.body.Read(b)
	p.n += int64(n)
	return n, err
}

func (s *Server) config(w http.ResponseWriter, r *http.Request) {
	from := s.client(r)
	if wait := s.addresses.use(from, 1); wait > 0 {
		s.refuse(w, r, from, tooMany(wait, limitAddress))
		return
	}
	c := s.configs.Load()
	app := r.URL.Query().Get("package")
	text, tag, expired := c.find(app, s.store.Now())
	if expired {
		s.Journal.warn("a configuration has expired and is not served; give it a later expires", 1, "package", app)
	}
	if text == nil {
		fail(w, refused(http.StatusNotFound, "the collector has no configuration for this package"))
		return
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag || known == "*" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // the client may be gone
}

// health answers that the process lives. It has no figures, as it needs no token.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready answers whether the collector can take reports.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if why := s.unready(); why != "" {
		fail(w, refused(http.StatusServiceUnavailable, "%s", why))
		return
	}
	answerJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// unready returns why the collector takes no reports, without what is for its operator alone, who finds it in the log;
// empty if it takes them.
func (s *Server) unready() string {
	err := s.store.Writable()
	switch {
	case s.stopping.Load():
		return ErrClosed.Error()
	case err == nil:
		return ""
	}
	s.Journal.warn("the collector is not ready", 1, "error", err.Error())
	for _, known := range []error{ErrFull, ErrBusy, ErrClock, ErrClosed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the collector cannot store anything now"
}
