package oracle

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// versityVersion is the version of the S3 server. .ci/deps installs it.
const versityVersion = "v1.8.0"

// ObjectStore is a server that speaks S3, on a port of 127.0.0.1, with one empty bucket: versitygw, a program that
// people use in production. It checks the signatures of requests.
type ObjectStore struct {
	// Endpoint is the URL of the server, and Bucket the name of its bucket.
	Endpoint, Bucket string
	// AccessKey and SecretKey are the credentials that it accepts.
	AccessKey, SecretKey string
	// Dir has the objects of the bucket as files.
	Dir string
}

// Env returns the environment variables by which clients find the server, in the form KEY=VALUE.
func (s *ObjectStore) Env() []string {
	return []string{"AWS_ENDPOINT_URL=" + s.Endpoint, "AWS_ACCESS_KEY_ID=" + s.AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + s.SecretKey, "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true"}
}

// FindObjectStore returns an error that wraps [ErrMissing] if the server is not installed.
func FindObjectStore() error {
	_, err := findVersity()
	return err
}

func findVersity() (string, error) {
	cache, err := CacheDir("versitygw-" + versityVersion)
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, "versitygw")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("no S3 server in %s; `make deps` installs it: %w", cache, ErrMissing)
	}
	return program, nil
}

// StartObjectStore starts a server for the time of the test, with its files below the test's temporary directory. It
// skips or fails the test as [Require] does if the server is not installed.
func StartObjectStore(t testing.TB) *ObjectStore {
	t.Helper()
	s, stop, err := RunObjectStore(t.TempDir())
	Require(t, err)
	t.Cleanup(stop)
	return s
}

// RunObjectStore starts a server with its files below a directory; stop ends it. The error wraps [ErrMissing] if it is
// not installed.
func RunObjectStore(dir string) (s *ObjectStore, stop func(), err error) {
	program, err := findVersity()
	if err != nil {
		return nil, nil, err
	}
	// Another program may have taken the port.
	for range 5 {
		if s, stop, err = runObjectStore(dir, program); err == nil {
			return s, stop, nil
		}
	}
	return nil, nil, fmt.Errorf("S3 server: %w", err)
}

func runObjectStore(dir, program string) (*ObjectStore, func(), error) {
	s := &ObjectStore{Bucket: "mappings", AccessKey: "test", SecretKey: rand.Text()}
	// The server refuses a directory of metadata whose path begins with that of the objects.
	root, meta := filepath.Join(dir, "objects"), filepath.Join(dir, "metadata")
	s.Dir = filepath.Join(root, s.Bucket)
	for _, d := range []string{s.Dir, meta} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, nil, err
		}
	}
	address, err := FreeAddress()
	if err != nil {
		return nil, nil, err
	}
	s.Endpoint = "http://" + address
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--port", address, "--quiet", "posix", "--sidecar",
		meta, root)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = []string{"ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey, "HOME=" + dir,
		"PATH=" + os.Getenv("PATH")}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	stop := func() {
		cancel()
		<-ended
	}
	// Minutes are many times what it takes.
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return s, stop, nil
		}
		select {
		case <-ended:
			deadline = time.Now()
		default:
		}
	}
	stop()
	return nil, nil, fmt.Errorf("it has ended, or does not answer: %s", strings.TrimSpace(out.String()))
}
