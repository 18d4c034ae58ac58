package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/record/launch"
	"github.com/tracegen/tracegen/internal/record/program"
	"github.com/tracegen/tracegen/mapping"
)

// nameFiles names the recording, and checks before anything is done that its name and that of the mapping can be used.
func (r *recorder) nameFiles(given map[string]string) error {
	r.recording = r.output
	if r.recording == "" {
		r.recording = given[propertyPrefix+"output"]
	}
	if r.recording == "" {
		name := launch.NameOf(r.args[0])
		if r.command != nil {
			name = r.command.Name()
		}
		r.recording = name + ".tgd"
	}
	if cli.EndsInSeparator(r.recording) || cli.IsDirectory(r.recording) {
		return cli.Misuse("--output %s is a directory: name a file", r.recording)
	}
	r.mapping = stem(r.recording) + "-mapping.txt"
	if err := os.MkdirAll(filepath.Dir(r.recording), 0o777); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if err := checkRecording(r.recording); err != nil {
		return err
	}
	_, err := r.oldMapping()
	return err
}

// stem returns the path without its extension.
func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// checkRecording refuses to record into a file that is not a recording. An empty file is what a program leaves that is
// killed while it starts.
func checkRecording(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer f.Close()
	magic := make([]byte, len(recordingMagic))
	if _, err := io.ReadFull(f, magic); err != io.EOF && (err != nil || string(magic) != recordingMagic) {
		return fmt.Errorf("%s exists and is not a recording: name another file by --output", path)
	}
	return nil
}

// oldMapping returns the mapping in the place of that of this recording; nil if there is none. It refuses another file.
func (r *recorder) oldMapping() (*mapping.Mapping, error) {
	old, err := mapping.Load(r.mapping)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s exists and is not a mapping: name another file by --output: %w", r.mapping, err)
	}
	return old, nil
}

// keepMapping writes the mapping of the program beside the recording. The mapping of an earlier build that is there is
// renamed: recordings of it may be kept.
func (r *recorder) keepMapping() error {
	data, err := os.ReadFile(filepath.Join(r.kept, cli.DefaultMapping))
	if err != nil {
		return err
	}
	now, err := mapping.Load(filepath.Join(r.kept, cli.DefaultMapping))
	if err != nil {
		return err
	}
	old, err := r.oldMapping()
	if err != nil {
		return err
	}
	if old != nil && old.Digest() != now.Digest() {
		kept := fmt.Sprintf("%s-%s.txt", stem(r.mapping), old.Digest())
		if err := os.Rename(r.mapping, kept); err != nil {
			return err
		}
		r.con.Detail("the mapping of an earlier build is %s now", kept)
	}
	f, err := atomicfile.Create(r.mapping)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// A foundRecording is a file of a recording, and a text that differs when the file was written or replaced.
type foundRecording struct {
	file, stamp string
	part        int
}

// recordingsBeside returns a file of each recording that has the name of the output: of this run, of an earlier one, or
// of another process. For one of several parts it is the last that is there. The keys are the IDs of the recordings, or
// the names of files that have none.
func (r *recorder) recordingsBeside() map[string]foundRecording {
	dir, name := filepath.Split(r.recording)
	extension := filepath.Ext(name)
	names := regexp.MustCompile("^" + regexp.QuoteMeta(strings.TrimSuffix(name, extension)) +
		`(\.pid[0-9]+(-[0-9]+)?)?(\.part[0-9]+)?` + regexp.QuoteMeta(extension) + `(\.[0-9]+)?$`)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	found := map[string]foundRecording{}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if !names.MatchString(e.Name()) || !cli.BeginsLikeRecording(file) {
			continue
		}
		key, f := file, foundRecording{file: file, part: 1}
		if part, ok := cli.PartOf(file); ok {
			key, f.part = part.Recording, part.Number
		}
		if info, err := os.Stat(file); err == nil {
			f.stamp = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
		}
		if f.part > found[key].part {
			found[key] = f
		}
	}
	return found
}

// keepNew notes the recordings of this run: those that were not there before, that with the name of the output first.
func (r *recorder) keepNew(before map[string]foundRecording) {
	for key, now := range r.recordingsBeside() {
		if old, ok := before[key]; !ok || old.stamp != now.stamp {
			r.recordings = append(r.recordings, now.file)
		}
	}
	slices.Sort(r.recordings)
	output := filepath.Clean(r.recording)
	if i := slices.Index(r.recordings, output); i > 0 {
		r.recordings = slices.Insert(slices.Delete(r.recordings, i, i+1), 0, output)
	}
}

// searched names the archives and directories that were instrumented.
func (r *recorder) searched() string {
	const most = 3
	if more := len(r.containers) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(r.containers[:most], ", "), more)
	}
	return strings.Join(r.containers, ", ")
}

// nothing returns the error for a program that was not recorded. It says the first thing that went wrong.
func (r *recorder) nothing(counts program.Counts, end launch.End) error {
	cause := ""
	switch s := &r.summary; {
	case counts.JVMs == 0 && r.command != nil:
		cause = "the JVM ended before it ran the program, or it does not run Java agents; see what it printed"
	case counts.JVMs == 0:
		cause = "no JVM has read the options of record in JAVA_TOOL_OPTIONS. Either none was started in the foreground, or " +
			"the variable was removed, or the JVM ended at them (-Xshare:on, an image of jlink without java.instrument); " +
			"see what was printed, or give the java command itself"
	case counts.Programs == 0:
		cause = "java was started, and ran no main class. If a script reads what java -version prints, it finds the line " +
			"\"Picked up JAVA_TOOL_OPTIONS\" if it names java by a full path: let it use JAVA_HOME or PATH, or give the " +
			"java command itself"
	case s.Methods == 0:
		cause = fmt.Sprintf("there is no method with code in %s: see what was printed", r.searched())
	case s.Traced == 0:
		cause = fmt.Sprintf("none of the %d methods in %s is traced (%s): tracegen explain says why, and rules in "+
			"tracegen.yml decide", s.Methods, r.searched(), s.Skipped)
	case counts.Replaced == 0 && counts.Differing > 0:
		cause = fmt.Sprintf("the program changes its classes before the JVM loads them, %s first", counts.First)
	case counts.Replaced == 0:
		cause = fmt.Sprintf("the program has loaded none of the %d classes that are traced, of %s: see what it printed; "+
			"if it runs other archives, name them by --also", s.Rewritten, r.searched())
	default:
		cause = fmt.Sprintf("%d classes that were loaded are traced, but none of their traced methods was called, or the "+
			"runtime has printed why it could not record", counts.Replaced)
		if end.Signal != "" {
			cause = end.Signal + " ended the program before the recorder wrote anything"
		}
	}
	return fmt.Errorf("nothing was recorded: %s; the program ended with exit code %d", cause, end.Code)
}

// recordingMagic is what a recording begins with (trace/FORMAT.md).
const recordingMagic = "TGD1"
