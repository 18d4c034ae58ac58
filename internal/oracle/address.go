package oracle

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// FreeAddress returns an address of 127.0.0.1 that was free a moment ago, for a program that listens where it has
// to. Its port is below those that systems give to programs that ask for any: one of these might be another
// program's before that one is started.
func FreeAddress() (string, error) {
	for try := 1; ; try++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20000+rand.IntN(12000)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		if try == 100 {
			return "", err
		}
	}
}
