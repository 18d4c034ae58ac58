package collect

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	// maxConnections limits connections, and maxUploads recordings that arrive at the same time.
	maxConnections = 1024
	maxUploads     = 128
	// headerTime is how long the header of a request may take, bodyTime its body and the answer. A recording may take
	// longer, see patient. restTime is how long a client may send what is not read.
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	restTime   = time.Second
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
}

// Server answers the requests of apps. It is safe for several goroutines.
type Server struct {
	ServerOptions
	store    *Store
	mux      http.ServeMux
	bodies   *budget
	uploads  chan struct{}
	packages map[string]bool
	tokens   atomic.Pointer[[][sha256.Size]byte]
	configs  atomic.Pointer[Configs]
	// As the constants of these names, but in tests.
	headerTime, bodyTime time.Duration
	connections          int
}

// NewServer returns a server that stores in store. It accepts requests without a token until SetTokens is called.
func NewServer(store *Store, o ServerOptions) *Server {
	s := &Server{ServerOptions: o, store: store, bodies: newBudget(bodyBudget), uploads: make(chan struct{}, maxUploads),
		packages: map[string]bool{}, headerTime: headerTime, bodyTime: bodyTime, connections: maxConnections}
	for _, p := range o.Packages {
		s.packages[p] = true
	}
	s.mux.HandleFunc("POST /v1/reports", s.guarded(s.reports))
	s.mux.HandleFunc("PUT /v1/recordings/{recording}/{part}", s.guarded(s.recording))
	s.mux.HandleFunc("GET /v1/config", s.config)
	s.mux.HandleFunc("GET /healthz", s.health)
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

// ServeHTTP answers a request. An unknown path is answered with 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	h := &http.Server{Handler: s, ReadHeaderTimeout: s.headerTime, ReadTimeout: s.bodyTime, WriteTimeout: s.bodyTime,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader, ConnContext: withConnection}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(newLimited(l, s.connections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := h.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close()
	}
	<-ended
	return err
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	status, why := http.StatusServiceUnavailable, err.Error()
	of := (*statusError)(nil)
	retry := 0
	switch {
	case errors.As(err, &of):
		status = of.status
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
	if status == http.StatusServiceUnavailable {
		retry = retryBusy
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
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyTime))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// guarded returns a handler that refuses requests without a token.
func (s *Server) guarded(handle func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.allowed(r) {
			fail(w, refused(http.StatusUnauthorized, "the header Authorization does not have a token of this collector"))
			return
		}
		defer admit(r.Context())()
		if err := handle(w, r); err != nil {
			fail(w, err)
		}
	}
}

// allowed compares the token of a request with all tokens, in a time that does not depend on them.
func (s *Server) allowed(r *http.Request) bool {
	tokens := s.tokens.Load()
	if tokens == nil || len(*tokens) == 0 {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := 0
	for i := range *tokens {
		found |= subtle.ConstantTimeCompare(sum[:], (*tokens)[i][:])
	}
	return found == 1 && strings.EqualFold(scheme, "Bearer")
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

func (s *Server) reports(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > s.MaxBody {
		return refused(http.StatusRequestEntityTooLarge, "the body has %d bytes, and at most %d are taken; send less at a "+
			"time", r.ContentLength, s.MaxBody)
	}
	deadline(w, s.bodyTime)
	in, err := inflate(http.MaxBytesReader(w, r.Body, s.MaxBody), r.Header.Get("Content-Encoding"), maxInflated*s.MaxBody)
	if err != nil {
		return err
	}
	text, taken, err := readText(in, s.bodies)
	defer func() { s.bodies.put(taken) }()
	if err != nil {
		return err
	}
	accepted, o, err := s.parse(text)
	if err != nil {
		return err
	}
	added, err := s.store.Add(accepted)
	if err != nil {
		return err
	}
	o.Accepted, o.Duplicates = added, len(accepted)-added
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
		case !s.takes(r.Package):
			o.Refused = append(o.Refused, refusal{r.ID, "the collector does not take reports of this package"})
		default:
			accepted = append(accepted, Accepted{r.ID, r.Package, r.Mapping, line})
		}
	}
	if reports == 0 {
		return nil, o, refused(http.StatusBadRequest, "the body has no report")
	}
	return accepted, o, nil
}

// takes reports whether the collector takes what is of a package.
func (s *Server) takes(app string) bool { return len(s.packages) == 0 || s.packages[app] }

func (s *Server) recording(w http.ResponseWriter, r *http.Request) error {
	number, err := parsePart(r.PathValue("part"))
	if err != nil {
		return refused(http.StatusBadRequest, "%s", err)
	}
	p := Part{Package: r.Header.Get(headerPackage), Mapping: r.Header.Get(headerMapping),
		Recording: r.PathValue("recording"), Number: number, SHA256: strings.ToLower(r.Header.Get(headerSHA256))}
	if err := p.check(); err != nil {
		return refused(http.StatusBadRequest, "%s", err)
	}
	if !s.takes(p.Package) {
		return refused(http.StatusBadRequest, "the collector does not take recordings of this package")
	}
	if r.ContentLength > s.MaxRecording {
		return refused(http.StatusRequestEntityTooLarge, "the body has %d bytes; at most %d are taken", r.ContentLength,
			s.MaxRecording)
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return ErrBusy
	}
	body := &patient{body: http.MaxBytesReader(w, r.Body, s.MaxRecording), w: w, began: time.Now(), bodyTime: s.bodyTime}
	in, err := inflate(body, r.Header.Get("Content-Encoding"), s.MaxRecording)
	if err != nil {
		return err
	}
	err = s.store.AddRecording(p, in)
	if err == nil {
		answerJSON(w, http.StatusOK, map[string]string{"stored": p.Recording})
	}
	if err != nil && !clientError(err) {
		s.store.warn(fmt.Errorf("recording %s, part %d: %w", p.Recording, p.Number, err))
	}
	return err
}

// clientError reports whether an error is about the request, and not about the store.
func clientError(err error) bool {
	return errors.As(err, new(*statusError)) || errors.As(err, new(*ContentError)) || errors.Is(err, ErrOther) ||
		errors.Is(err, ErrFull) || errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed)
}

// deadline sets until when the body of a request must have arrived.
func deadline(w http.ResponseWriter, in time.Duration) {
	// A writer of a test has no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(in))
}

// patient is the body of a recording. It may take long, but not longer than at leastRate, and no pause may be longer
// than bodyTime.
type patient struct {
	body  io.Reader
	w     http.ResponseWriter
	began time.Time
	n     int64
	// bodyTime is how long a pause may be, and the time that a body has in any case.
	bodyTime time.Duration
}

// leastRate is how many bytes a second of a recording must arrive, after bodyTime.
const leastRate = 16 << 10

// Read reads within the time that is left.
func (p *patient) Read(b []byte) (int, error) {
	left := time.Until(p.began.Add(p.bodyTime + time.Duration(p.n/leastRate)*time.Second))
	deadline(p.w, min(p.bodyTime, left))
	n, err := p.body.Read(b)
	p.n += int64(n)
	return n, err
}

func (s *Server) config(w http.ResponseWriter, r *http.Request) {
	c := s.configs.Load()
	app := r.URL.Query().Get("package")
	text, tag := c.find(app, s.store.Now())
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

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if err := s.store.Writable(); err != nil {
		fail(w, err)
		return
	}
	answerJSON(w, http.StatusOK, map[string]any{"status": "ok", "bytes": s.store.Used()})
}
