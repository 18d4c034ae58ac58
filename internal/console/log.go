package console

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Logger returns a logger for a command that runs until it is stopped. It is safe for several goroutines. Its records
// are messages of the console: in JSON they also have time and their attributes as keys, and in text the attributes
// follow the message. Groups of attributes are not supported.
func (c *Console) Logger() *slog.Logger { return slog.New(&logHandler{con: c, mu: new(sync.Mutex)}) }

// logHandler passes records to a console, one at a time.
type logHandler struct {
	con        *Console
	mu         *sync.Mutex
	attributes []slog.Attr
}

// Enabled is for [slog.Handler].
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle is for [slog.Handler].
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	m := Message{Level: LevelInfo, Text: r.Message}
	switch {
	case r.Level >= slog.LevelError:
		m.Level = LevelError
	case r.Level >= slog.LevelWarn:
		m.Level = LevelWarning
	}
	fields := map[string]any{"time": r.Time.UTC().Format(time.RFC3339Nano)}
	text := ""
	add := func(a slog.Attr) bool {
		if !a.Equal(slog.Attr{}) {
			fields[a.Key] = a.Value.Resolve().Any()
			text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range h.attributes {
		add(a)
	}
	r.Attrs(add)
	if h.con.Format == LogJSON {
		m.Fields = fields
	} else if text != "" {
		m.Text += ":" + text
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.con.Print(m)
	return nil
}

// WithAttrs is for [slog.Handler].
func (h *logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &logHandler{h.con, h.mu, append(h.attributes[:len(h.attributes):len(h.attributes)], attributes...)}
}

// WithGroup is for [slog.Handler]. The groups of keys are not shown.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
