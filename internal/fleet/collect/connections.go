package collect

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// limited is a listener that has a limited number of connections open. If they are all in use, a new one takes the
// place of the one that is longest without an admitted request: a client without a token, or without a request, can
// keep no other one out, however slow it is. Without such a connection the new one waits.
type limited struct {
	net.Listener
	most int

	mu    sync.Mutex
	freed sync.Cond  // a place is free, or may be taken
	open  int        // connections that are not closed
	idle  *list.List // those without an admitted request, the longest first
}

func newLimited(l net.Listener, most int) *limited {
	limits := &limited{Listener: l, most: most, idle: list.New()}
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
	for l.open >= l.most && l.idle.Len() == 0 {
		l.freed.Wait()
	}
	var evicted *connection
	if l.open >= l.most {
		evicted = l.idle.Front().Value.(*connection)
		l.remove(evicted)
	}
	c := &connection{Conn: conn, of: l}
	l.open++
	c.place = l.idle.PushBack(c)
	l.mu.Unlock()
	if evicted != nil {
		// The server learns it when it reads or writes. A connection with TLS first says goodbye, for which a client that
		// does not read can take seconds.
		go evicted.Conn.Close()
	}
	return c, nil
}

// remove gives up the place of a connection. The lock is held.
func (l *limited) remove(c *connection) {
	if c.gone {
		return
	}
	c.gone = true
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
	l.open--
	l.freed.Signal()
}

// connection is an open connection of a [limited].
type connection struct {
	net.Conn
	of *limited
	// place is nil while a request is admitted; gone says that the connection has lost its place. Both are under the lock.
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

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// withConnection is for [http.Server.ConnContext].
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// admit keeps the connection of a request until done is called.
func admit(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return func() {} // of a test without connections
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !c.gone {
			c.place = l.idle.PushBack(c)
			l.freed.Signal()
		}
	}
}
