package collect

import (
	"errors"
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// slotsOfAddress is how many requests of one address may be in progress, and uploadSlots how many of these a recording
	// counts as, which can take long.
	slotsOfAddress = 64
	uploadSlots    = 4
	// guessCost is as how many reports a request with a wrong token counts, bytesOfReport and bytesOfPart are as how many
	// bytes of a body and of a recording one does.
	guessCost     = 20
	bytesOfReport = 1 << 10
	bytesOfPart   = 16 << 10
	// Burst is how many seconds of its rate a client may use at once.
	Burst = 60
	// meterRows and meterPlaces are the size of a meter: 1.5 MiB.
	meterRows, meterPlaces = 3, 1 << 16
)

// meter limits the rate at which keys, such as addresses, use something. Its memory is the same however many keys there
// are, so no client can make it forget another one: a key has a place in each row, which it may share with others, and
// is over its rate if all its places are. The places depend on a secret of the process.
type meter struct {
	rate float64 // of one key in a second; 0 for no limit
	now  func() time.Duration
	seed maphash.Seed

	mu sync.Mutex
	// paid is until when the rate is used, which may be the past.
	paid [meterRows][]time.Duration
}

func newMeter(rate float64, now func() time.Duration) *meter {
	m := &meter{rate: rate, now: now, seed: maphash.MakeSeed()}
	for row := range m.paid {
		if rate > 0 {
			m.paid[row] = make([]time.Duration, meterPlaces)
		}
	}
	return m
}

// use adds an amount to what a key has used, and returns after what time it may use more; 0 for at once.
func (m *meter) use(key string, amount int) (wait time.Duration) {
	if m.rate <= 0 || key == "" {
		return 0
	}
	hash := maphash.String(m.seed, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	wait = math.MaxInt64
	for row := range m.paid {
		place := &m.paid[row][hash>>(row*16)%meterPlaces]
		wait = min(wait, *place-now-Burst*time.Second)
		if amount > 0 {
			*place = max(*place, now) + time.Duration(float64(amount)/m.rate*float64(time.Second))
		}
	}
	return max(wait, 0)
}

// tooMany is the answer to a client that is over a limit.
func tooMany(wait time.Duration, why string) error {
	return &statusError{http.StatusTooManyRequests, why, int(math.Ceil(wait.Seconds()))}
}

// slots counts the requests of each address that are in progress. There are no more than connections.
type slots struct {
	most  int // of an address; 0 for no limit
	mu    sync.Mutex
	taken map[string]int
}

// take takes n slots for an address; ok is false if it has no more. give returns them.
func (s *slots) take(address string, n int) (give func(), ok bool) {
	if s.most == 0 || address == "" {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[address]+n > s.most {
		return nil, false
	}
	s.taken[address] += n
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.taken[address] -= n; s.taken[address] == 0 {
			delete(s.taken, address)
		}
	}, true
}

// client returns the address of the client of a request, as the limits count it: that of an IPv6 client is its network,
// of which it has all addresses. It is empty for programs on the machine of the collector, which have no limits. The
// client of a proxy is the last one that the proxies have added to the header; what stands before it may be
// the client's own.
func (s *Server) client(r *http.Request) string {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	address := peer.Addr().Unmap()
	if s.isProxy(address) {
		chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for k := len(chain) - 1; k >= 0 && s.isProxy(address); k-- {
			next, err := netip.ParseAddr(strings.TrimSpace(chain[k]))
			if err != nil {
				break
			}
			address = next.Unmap().WithZone("")
		}
	} else if r.Header.Get("X-Forwarded-For") != "" {
		s.Journal.warn("requests have the header X-Forwarded-For, and no --proxy names where they come from: if that is a "+
			"proxy, its clients share the limits of one address, or have none on this machine", 1, "address",
			address.String())
	}
	switch {
	case !address.IsValid() || address.IsLoopback():
		return ""
	case address.Is6():
		network, _ := address.Prefix(64)
		return network.String()
	}
	return address.String()
}

func (s *Server) isProxy(address netip.Addr) bool {
	for _, p := range s.Proxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// ParseProxy returns the network of an address, or of a network as CIDR writes it.
func ParseProxy(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// The limits that refuse requests, as the answer, the log and the metrics name them.
const (
	limitAddress = "too many reports from this address"
	limitToken   = "too many reports with this token"
	limitSlots   = "too many requests from this address at a time"
	limitUploads = "too many recordings at a time"
)

// limitOf returns which limit has refused a request; empty for none.
func limitOf(err error, status int) string {
	switch of := (*statusError)(nil); {
	case status == http.StatusUnauthorized:
		return "no valid token"
	case status == http.StatusTooManyRequests && errors.As(err, &of):
		return of.why
	case errors.Is(err, ErrBusy), errors.Is(err, ErrFull):
		return err.Error()
	}
	return ""
}
