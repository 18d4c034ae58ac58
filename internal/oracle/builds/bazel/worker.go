package bazel

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
)

// serverJar has the classes that Bazel and its remote executor share.
const serverJar = "/usr/share/bazel/A-server.jar"

// libraries are the beginnings of the names of the libraries of the remote executor, in Debian's /usr/share/java.
var libraries = []string{"auto", "checker-qual", "error-prone", "flogger", "grpc", "gson", "guava", "jsr305",
	"opencensus", "perfmark", "protobuf", "netty", "rxjava", "javax", "geronimo", "jackson", "failureaccess", "reactive"}

// Worker is a remote executor that runs on this machine.
type Worker struct {
	Address string // for --remote_executor
	process *exec.Cmd
	ended   chan struct{}
}

// StartWorker starts Bazel's remote executor with all its files below dir. It compiles it from Debian's package
// bazel-bootstrap-source, which is downloaded, not installed, unless the cache has it. The error wraps
// [oracle.ErrMissing] if the package is not had.
func StartWorker(ctx context.Context, dir string) (*Worker, error) {
	classPath := []string{serverJar}
	for _, library := range libraries {
		jars, err := filepath.Glob("/usr/share/java/" + library + "*.jar")
		if err != nil {
			return nil, err
		}
		classPath = append(classPath, jars...)
	}
	classes, err := compileWorker(ctx, strings.Join(classPath, ":"))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"work", "cas"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	address, err := oracle.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	w := &Worker{Address: "grpc://" + address, ended: make(chan struct{})}
	w.process = exec.Command("java", "-Xmx512m", "-cp", classes+":"+strings.Join(classPath, ":"),
		"com.google.devtools.build.remote.worker.RemoteWorker", "--listen_port="+port,
		"--work_path="+filepath.Join(dir, "work"), "--cas_path="+filepath.Join(dir, "cas"))
	w.process.Stdout, w.process.Stderr = log, log
	if err := w.process.Start(); err != nil {
		return nil, fmt.Errorf("the remote executor: %w", err)
	}
	go func() {
		_ = w.process.Wait() // its log says why
		close(w.ended)
	}()
	if err := w.await(ctx, address); err != nil {
		w.Stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("the remote executor: %w\n%s", err, text)
	}
	return w, nil
}

// await returns when the worker accepts connections.
func (w *Worker) await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-w.ended:
			return fmt.Errorf("it ended before it accepted a connection")
		case <-ctx.Done():
			return err
		case <-retry.C:
		}
	}
}

// Stop ends the worker.
func (w *Worker) Stop() {
	_ = w.process.Process.Kill() // it may have ended
	<-w.ended
}

// compileWorker returns the directory of the compiled classes.
func compileWorker(ctx context.Context, classPath string) (string, error) {
	cache, err := oracle.CacheDir("bazel-remote-worker")
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "classes")
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	step := func(name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = tmp
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("the remote executor: %s: %w: %w\n%s", name, err, oracle.ErrMissing, out)
		}
		return nil
	}
	if err := step("apt-get", "-qq", "download", "bazel-bootstrap-source"); err != nil {
		return "", err
	}
	packages, err := filepath.Glob(filepath.Join(tmp, "bazel-bootstrap-source_*.deb"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("the remote executor: apt-get downloaded %d packages, want 1: %w",
			len(packages), oracle.ErrMissing)
	}
	if err := step("dpkg", "-x", packages[0], "src"); err != nil {
		return "", err
	}
	out := filepath.Join(tmp, "out")
	javac := []string{"-nowarn", "-cp", classPath, "-d", out}
	err = filepath.WalkDir(filepath.Join(tmp, "src"), func(path string, d fs.DirEntry, err error) error {
		if strings.Contains(path, "src/tools/remote/src/main/java/") && strings.HasSuffix(path, ".java") {
			javac = append(javac, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if err := step("javac", javac...); err != nil {
		return "", err
	}
	if err := os.Rename(out, final); err != nil && !isDir(final) {
		return "", err
	}
	return final, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
