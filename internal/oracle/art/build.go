package art

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

//go:embed recipe
var embedded embed.FS

// Android 11's own classes, which Debian's source package lacks.
const (
	android    = "org.robolectric:android-all:11-robolectric-6757853"
	androidSum = "62f577ca49f62f0da5d6a2a839d80ef377054b9ccd14811035593bf351295b31"
)

// d8 is the version of D8 that makes the DEX files, in [toolchain.Versions].
const d8 = 1

// debian is the release whose packages the recipe lists.
const debian = "bookworm"

// A step is a script of the recipe, which fills a directory of its name.
type step struct {
	name string
	// after are the steps whose directories it reads.
	after []string
	// files are the files and directories of the recipe that it reads, beside its script.
	files []string
}

// basic are the steps of the bench, apps that of an app, compiling those of its compiler, ahead those of dex2oat, and
// counting those of [Bench.Count], each after those that it needs.
var (
	basic = []step{
		{name: "packages", files: []string{"packages.sha256"}},
		{name: "libcore", after: []string{"packages"}},
		{name: "natives", after: []string{"packages", "libcore"}, files: []string{"src/openjdkjvm.cc", "shim"}},
		{name: "core", after: []string{"libcore"}, files: []string{"java/bench"}},
		{name: "framework", after: []string{"core"}, files: []string{"framework.txt"}},
		{name: "tools", after: []string{"core"}, files: []string{"java/Verify.java", "java/CompileAll.java"}},
		{name: "launcher", after: []string{"packages"},
			files: []string{"src/launcher.c", "src/framework.c", "src/verify.cc"}},
	}
	// apps has what an app loads, beside basic.
	apps      = []step{{name: "app", after: []string{"core", "framework"}, files: []string{"app.txt"}}}
	source    = step{name: "artsource", after: []string{"packages"}}
	compiling = []step{
		source,
		{name: "compiler", after: []string{"packages", "artsource"}, files: []string{"src/xz.cc"}},
		{name: "compileall", after: []string{"packages", "artsource"}, files: []string{"src/compileall.cc"}},
	}
	ahead = []step{
		{name: "dex2oat", after: []string{"packages", "artsource", "compiler"}, files: []string{"lz4"}},
		{name: "image", after: []string{"natives", "core", "framework", "launcher", "compiler", "dex2oat"}},
	}
	counting = []step{
		source,
		{name: "steps", after: []string{"packages", "artsource", "core"}, files: []string{"src/steps.cc", "java/Steps.java"}},
	}
)

// A requirement is a file that the recipe uses, or a program if it has no slash, and Debian's package with it.
type requirement struct{ file, pkg string }

var (
	basicNeeds = []requirement{{"gcc", "gcc"}, {"g++", "g++"}, {"dpkg-source", "dpkg-dev"},
		{"/usr/include/zlib.h", "zlib1g-dev"}, {"/usr/include/unicode/uversion.h", "libicu-dev"},
		{"/usr/include/expat.h", "libexpat1-dev"}}
	compilerNeeds = []requirement{{"clang++", "clang"}, {"ld.lld", "lld"}, {"python3", "python3"}}
)

// check reports why this machine cannot have the bench. The error wraps [oracle.ErrMissing], and [oracle.ErrOptional]
// where Debian's packages are not to be had.
func check(needs []requirement) error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("ART needs Linux on amd64, this is %s on %s: %w", runtime.GOOS, runtime.GOARCH, oracle.ErrOptional)
	}
	release, _ := os.ReadFile("/etc/os-release")
	if !strings.Contains(string(release), "VERSION_CODENAME="+debian) {
		return fmt.Errorf("ART is built from packages of Debian %s, this is another system: %w", debian, oracle.ErrOptional)
	}
	var missing []string
	for _, n := range append(needs[:len(needs):len(needs)], requirement{"apt-get", "apt"}) {
		_, err := os.Stat(n.file)
		if !strings.Contains(n.file, "/") {
			_, err = exec.LookPath(n.file)
		}
		if err != nil {
			missing = append(missing, n.pkg)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("ART needs apt-get install %s: %w", strings.Join(missing, " "), oracle.ErrMissing)
	}
	return nil
}

// A builder runs the steps of the recipe.
type builder struct {
	// cache has the directories, recipe the scripts.
	cache  string
	recipe fs.FS
	// environment returns variables for all steps. It is called when a step must run.
	environment func(context.Context) ([]string, error)
	// log reports a step that is done.
	log func(format string, args ...any)

	// copied is the directory with a copy of the recipe, env are the variables.
	copied string
	env    []string
	// locked is the file with the lock.
	locked *os.File
	// dirs and sums are the directories of the steps, and the hashes in their names.
	dirs, sums map[string]string
}

// build returns the directories of steps. It runs those that the cache lacks.
func (b *builder) build(ctx context.Context, steps []step) (map[string]string, error) {
	b.dirs, b.sums = map[string]string{}, map[string]string{}
	complete := true
	for _, s := range steps {
		var err error
		if b.sums[s.name], err = b.hash(s); err != nil {
			return nil, err
		}
		b.dirs[s.name] = filepath.Join(b.cache, s.name+"-"+b.sums[s.name])
		complete = complete && exists(b.dirs[s.name])
	}
	if complete {
		return b.dirs, nil
	}
	var err error
	if b.locked, err = lock(ctx, b.cache); err != nil {
		return nil, err
	}
	defer b.locked.Close()
	return b.dirs, b.run(ctx, steps)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// lock waits until no other process has the lock of the cache. Closing the file ends the lock.
func lock(ctx context.Context, cache string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		got, supported := atomicfile.TryLock(f)
		switch {
		case got:
			return f, nil
		case !supported:
			f.Close()
			return nil, fmt.Errorf("%s: the file system has no locks", f.Name())
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// hash returns a hash of all that a step depends on. The steps before it have theirs.
func (b *builder) hash(s step) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, android, toolchain.Versions[d8].Version)
	for _, name := range s.after {
		fmt.Fprintln(h, name, b.sums[name])
	}
	for _, name := range append([]string{"prelude.sh", s.name + ".sh"}, s.files...) {
		err := fs.WalkDir(b.recipe, name, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := fs.ReadFile(b.recipe, file)
			fmt.Fprintln(h, "recipe/"+file, len(data))
			h.Write(data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// environment returns the variables of the recipe: the JDK and what Maven has.
func environment(ctx context.Context) ([]string, error) {
	j, err := oracle.FindJDK(17)
	if err != nil {
		return nil, err
	}
	androidJar, err := oracle.FetchSum(ctx, android, androidSum)
	if err != nil {
		return nil, err
	}
	tools, err := toolchain.Versions[d8].Fetch(ctx)
	return []string{"PATH=" + filepath.Join(j.Home, "bin") + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8",
		"android=" + androidJar, "r8=" + tools.Jar()}, err
}

// run runs the steps that are not done, two at a time, each when those before it are done.
func (b *builder) run(ctx context.Context, steps []step) error {
	variables, err := b.environment(ctx)
	if err != nil {
		return err
	}
	if b.copied, err = os.MkdirTemp(b.cache, "recipe-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.copied)
	if err := os.CopyFS(b.copied, b.recipe); err != nil {
		return err
	}
	b.env = slices.Concat(os.Environ(), variables, []string{"recipe=" + b.copied})
	done := map[string]chan struct{}{}
	for _, s := range steps {
		done[s.name] = make(chan struct{})
	}
	group, ctx := errgroup.WithContext(ctx)
	jobs := make(chan struct{}, min(runtime.NumCPU(), 2))
	for _, s := range steps {
		group.Go(func() error {
			for _, before := range s.after {
				select {
				case <-done[before]:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			jobs <- struct{}{}
			defer func() { <-jobs }()
			if !exists(b.dirs[s.name]) {
				if err := b.script(ctx, s); err != nil {
					return err
				}
			}
			close(done[s.name])
			return nil
		})
	}
	return group.Wait()
}

// script runs a step in its directory, which has another name until the step is done.
func (b *builder) script(ctx context.Context, s step) error {
	began := time.Now()
	part := b.dirs[s.name] + ".part"
	if err := os.MkdirAll(part, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(b.cache, s.name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(b.copied, s.name+".sh"))
	// A compiler that outlives this process keeps the lock, so that no other process writes beside it.
	cmd.ExtraFiles = []*os.File{b.locked}
	cmd.Dir, cmd.Stdout, cmd.Stderr = part, log, log
	cmd.Env = append(b.env[:len(b.env):len(b.env)], fmt.Sprint("jobs=", min(runtime.NumCPU(), 2)))
	for _, name := range s.after {
		cmd.Env = append(cmd.Env, name+"="+b.dirs[name])
	}
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		const shown = 2000
		err = fmt.Errorf("ART: step %s: %w: %s", s.name, err, text[max(0, len(text)-shown):])
		if s.name == "packages" {
			// The network, or a package that Debian has replaced by another version.
			err = errors.Join(err, oracle.ErrMissing)
		}
		return err
	}
	b.log("measured: ART: step %s: %.0f s, %.0f s of CPU", s.name, time.Since(began).Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return os.Rename(part, b.dirs[s.name])
}
