package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
)

func TestInterruptible(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself an interrupt on Windows")
	}
	ctx, stop := Interruptible(context.Background())
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done() // or the test process dies of the signal
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("context ended with %v", ctx.Err())
	}
}
