package oracle

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// LinkJob is a jar whose classes are to be linked together with those of its dependencies.
type LinkJob struct {
	// ID is copied to the results. It distinguishes the job from others of the same batch, and the original from its
	// output, and must not contain a tab or newline.
	ID string
	// Jar is the file whose classes are linked.
	Jar string
	// Deps are jars whose classes can be referred to; the first that has a class wins.
	Deps []string
}

// LinkStatus is the result of linking a class.
type LinkStatus string

const (
	// Linked: the class verifies. A class of major version 50 verifies with its frames, as one of version 51.
	Linked LinkStatus = "ok"
	// LinkedBy50: a class of major version 50 verifies only because HotSpot then ignores its frames and infers the
	// types.
	LinkedBy50 LinkStatus = "ok50"
	// LinkFailed: the class does not load or does not verify; Message is the reason.
	LinkFailed LinkStatus = "fail"
	// LinkOfBoot: a class of java.*, which only the JVM's own loader may define.
	LinkOfBoot LinkStatus = "boot"
	// LinkNewer: the JVM is too old for the class.
	LinkNewer LinkStatus = "newer"
)

// LinkResult is the result for one class file.
type LinkResult struct {
	// Job is the job's ID, Entry the file's name in the jar, Class its name with dots.
	Job, Entry, Class string
	// Major is the class file's major version.
	Major int
	// Status is the result.
	Status LinkStatus
	// Message is the error of a failure; for LinkedBy50 it is the error with frames.
	Message string
}

// linkThreads is the number of jars that are linked in parallel.
const linkThreads = 2

// linkFlags make a JVM verify everything, start fast and stay small. Copies of class bytes go to metaspace, so that the
// heap needs to hold little more than the index of the biggest jar.
var linkFlags = []string{
	"-Xmx1g", "-Xss4m", "-XX:TieredStopAtLevel=1", "-XX:+UseParallelGC",
	"-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI",
}

// Link links all classes of the jars in one JVM of the JDK and returns a result for every class file except
// module-info, sorted by job and entry. No class is initialised. Classes that fail are results; the test ends if the
// JVM could not run to its end.
func Link(t testing.TB, j JDK, jobs []LinkJob) []LinkResult {
	t.Helper()
	whiteBox := tool{name: "whitebox", release: 11}.need(t, j)
	main := tool{name: "link", release: 11, path: []string{whiteBox}}.need(t, j)
	recorder := NeedRecorder(t)
	args := slices.Concat(linkFlags, []string{"-Xbootclasspath/a:" + whiteBox,
		"-cp", classPath(main, recorder), "dev.tracegen.oracle.Link"})
	var results []LinkResult
	batch(t, j, args, jobs, []string{strconv.Itoa(linkThreads)}, func(r []string) error {
		if len(r) != 6 {
			return fmt.Errorf("%d columns", len(r))
		}
		major, err := strconv.Atoi(r[3])
		results = append(results, LinkResult{r[0], r[1], r[2], major, LinkStatus(r[4]), r[5]})
		return err
	})
	slices.SortFunc(results, func(a, b LinkResult) int {
		return strings.Compare(a.Job+"\x00"+a.Entry, b.Job+"\x00"+b.Entry)
	})
	return results
}

// Regressions returns the results of after for classes that linked in before and no longer do, or only with their
// frames ignored, and the results of before that linked and have no result in after. It compares jobs with the same ID.
func Regressions(before, after []LinkResult) []LinkResult {
	type key struct{ job, entry string }
	now := make(map[key]LinkResult, len(after))
	for _, r := range after {
		now[key{r.Job, r.Entry}] = r
	}
	var lost []LinkResult
	for _, b := range before {
		if b.Status != Linked && b.Status != LinkedBy50 {
			continue
		}
		a, found := now[key{b.Job, b.Entry}]
		switch {
		case !found:
			b.Status, b.Message = LinkFailed, "the class is gone"
			lost = append(lost, b)
		case a.Status == Linked, a.Status == b.Status:
		default:
			lost = append(lost, a)
		}
	}
	return lost
}

// batch runs a tool that takes a file of jobs and an output file before its other arguments, and calls a function for
// each tab-separated row that the tool wrote. There may be millions of rows.
func batch(t testing.TB, j JDK, args []string, jobs []LinkJob, rest []string, row func([]string) error) {
	t.Helper()
	tmp := t.TempDir()
	var lines strings.Builder
	for _, job := range jobs {
		lines.WriteString(strings.Join(append([]string{job.ID, job.Jar}, job.Deps...), "\t") + "\n")
	}
	in, out := fixture.Write(t, filepath.Join(tmp, "jobs"), lines.String()), filepath.Join(tmp, "out")
	Require(t, j.java(t.Context(), slices.Concat(args, []string{in, out}, rest)...))
	f, err := os.Open(out)
	Require(t, err)
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		if err := row(strings.Split(scan.Text(), "\t")); err != nil {
			t.Fatalf("JDK %d: row %q: %v", j.Feature, scan.Text(), err)
		}
	}
	Require(t, scan.Err())
}
