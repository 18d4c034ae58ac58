package export

import "io"

// Limited writes to another writer until more than a number of bytes would be written. It then fails with Err.
type Limited struct {
	// W is what is written to.
	W io.Writer
	// Left is how many bytes may still be written.
	Left int64
	// Err is the error behind them.
	Err error
}

// Write implements io.Writer.
func (l *Limited) Write(b []byte) (int, error) {
	if int64(len(b)) > l.Left {
		return 0, l.Err
	}
	n, err := l.W.Write(b)
	l.Left -= int64(n)
	return n, err
}
