package collect

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// deadlines are those of a connection. Each is for everything that the connection does meanwhile, whatever it is:
// a timer closes the connection below TLS and HTTP, so that no read or write of these can forget its own.
type deadlines struct {
	// header is from the beginning of the connection until the header of the first request is there, with the handshake
	// of TLS. idle is from an answer until the header of the next request is there.
	header, idle time.Duration
	// body is until the body of a request is there; a client that is late gets an answer. answer is how long the answer
	// may take after it, until the client has read it.
	body, answer time.Duration
}

// usual are the deadlines of a collector; those of a recording depend on its size, see [patient].
var usual = deadlines{header: 10 * time.Second, idle: time.Minute, body: 30 * time.Second, answer: 30 * time.Second}

// limited is a listener that has a limited number of connections open. If they are all in use, a new one takes the
// place of the one that is longest without an admitted request, or if there is none, of the one whose request was
// admitted first and has not arrived yet. So a client that sends nothing, or slowly, keeps no other one out. Requests
// that have arrived wait for the store alone: if all do, the new connection waits.
type limited struct {
	net.Listener
	deadlines deadlines
	most      int
	closed    func(why string) // counts

	mu    sync.Mutex
	freed sync.Cond // a place is free, or may be taken
	open  map[*connection]bool
	idle  *list.List // those without an admitted request, the longest first
	slow  *list.List // those with one that has not arrived, the longest first
}

func newLimited(l net.Listener, most int, d deadlines, closed func(why string)) *limited {
	limits := &limited{Listener: l, deadlines: d, most: most, closed: closed,
		open: map[*connection]bool{}, idle: list.New(), slow: list.New()}
	limits.freed.L = &limits.mu
	return limits
}

// Accept returns the next connection when there is a place for it.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) >= l.most && l.idle.Len() == 0 && l.slow.Len() == 0 {
		l.freed.Wait()
	}
	if len(l.open) >= l.most {
		first := l.idle.Front()
		if first == nil {
			first = l.slow.Front()
		}
		l.end(first.Value.(*connection), "another took its place")
	}
	c := &connection{Conn: conn, of: l}
	c.timer = time.AfterFunc(l.deadlines.header, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.end(c, "its time was over")
	})
	l.open[c] = true
	l.move(c, l.idle)
	return c, nil
}

// end closes a connection. The server learns it when it reads or writes. The lock is held.
func (l *limited) end(c *connection, why string) {
	if !c.gone {
		l.closed(why)
		l.remove(c)
		c.Conn.Close()
	}
}

// stop closes connections because the server stops: those without an admitted request, or all. The server would do it
// one after the other, and say goodbye to each by TLS, for which a client that does not read can take five seconds.
func (l *limited) stop(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if all || c.list == l.idle {
			l.end(c, "the collector stopped")
		}
	}
}

// remove gives up the place of a connection. The lock is held.
func (l *limited) remove(c *connection) {
	if !c.gone {
		l.move(c, nil)
		c.gone = true
		c.timer.Stop()
		delete(l.open, c)
		l.freed.Signal()
	}
}

// move moves a connection to the end of a list; nil for none. The lock is held.
func (l *limited) move(c *connection, to *list.List) {
	if c.gone {
		return
	}
	if c.list != nil {
		c.list.Remove(c.place)
	}
	if c.list = to; to != nil {
		c.place = to.PushBack(c)
		l.freed.Signal()
	}
}

// state is for [http.Server.ConnState].
func (l *limited) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateActive:
		connectionOf(conn).within(l.deadlines.body + l.deadlines.answer)
	case http.StateIdle:
		connectionOf(conn).within(l.deadlines.idle)
	}
}

// connection is an open connection of a [limited].
type connection struct {
	net.Conn
	of    *limited
	timer *time.Timer // closes it
	// list is that of the limited which has the connection, place where; nil if what was sent has arrived. gone says that
	// the connection has lost its place. All are under the lock.
	list  *list.List
	place *list.Element
	gone  bool
}

// Close closes the connection, and frees its place.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// within closes the connection after a time, in place of what was set before.
func (c *connection) within(d time.Duration) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.gone {
		c.timer.Reset(d)
	}
}

// connectionOf returns the connection below a connection of the server.
func connectionOf(conn net.Conn) *connection {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	return conn.(*connection)
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// withConnection is for [http.Server.ConnContext].
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connectionOf(conn))
}

// within closes the connection of a request after a time, in place of what was set before.
func within(ctx context.Context, d time.Duration) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok { // a test may have none
		c.within(d)
	}
}

// admit keeps the connection of a request while others have none that was admitted, until done is called.
func admit(ctx context.Context) (done func()) {
	enter(ctx, func(l *limited) *list.List { return l.slow })
	return func() { enter(ctx, func(l *limited) *list.List { return l.idle }) }
}

// arrived keeps the connection of an admitted request, as it does not wait for its client any more.
func arrived(ctx context.Context) { enter(ctx, func(*limited) *list.List { return nil }) }

// enter moves the connection of a request to a list.
func enter(ctx context.Context, to func(*limited) *list.List) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.move(c, to(c.of))
	}
}
