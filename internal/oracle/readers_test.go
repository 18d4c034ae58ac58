package oracle

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestReaderDeadline checks that a reader that does not answer is ended, and that the error says so.
func TestReaderDeadline(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("skipped: there is no program sleep: ", err)
	}
	r := &Readers{cmd: cmd, in: in, out: bufio.NewReader(out), deadline: 50 * time.Millisecond}
	err = r.Ask("firefox", "a.json", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "firefox did not read a.json within 50ms") {
		t.Errorf("error %v", err)
	}
	err = r.Ask("perfetto", "b", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "not asked: firefox did not") {
		t.Errorf("error %v of the next reader", err)
	}
	if cmd.Wait() == nil {
		t.Error("the process was not ended")
	}
}
