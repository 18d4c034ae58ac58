package corpus_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// bunchBytes is the size of the jars that are taken as one app: the whole corpus has more methods than there are IDs.
const bunchBytes = 40 << 20

// TestCorpusPhases makes apps of many jars from the corpus, and instruments each in one run and in phases, with one to
// three jars in a part and the parts in random order. Outputs, mapping and lists must be the same files.
//
// Invariant: Three steps write for the corpus what one run writes.
func TestCorpusPhases(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	bin := buildTool(t)
	random := rand.New(rand.NewPCG(4, 5))
	random.Shuffle(len(jars), func(i, j int) { jars[i], jars[j] = jars[j], jars[i] })
	var sum phaseCosts
	for bunch := 0; len(jars) > 0; bunch++ {
		n, size := 0, int64(0)
		for n < len(jars) && (n == 0 || size < bunchBytes) {
			info, err := os.Stat(jars[n].Path)
			if err != nil {
				t.Fatal(err)
			}
			n, size = n+1, size+info.Size()
		}
		flags := []string{"--set", []string{"trivial=none", "trivial=smart"}[bunch%2], "--exits",
			[]string{"throws", "normal", "exact"}[bunch%3]}
		app := &phasedApp{bin: bin, dir: t.TempDir(), jars: jars[:n], flags: flags, random: random}
		jars = jars[n:]
		app.atOnce(t)
		app.inPhases(t)
		app.compare(t)
		sum.add(app.costs)
		if err := os.RemoveAll(app.dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("measured: %d files are the same in one run and in phases; scan files are %.1f %%, slices %.1f %% of the "+
		"jars; "+
		"CPU of scan %.2f, assign %.2f, instrument --slice %.2f of that of all at once",
		sum.same, sum.of(sum.scans), sum.of(sum.slices), sum.cpu[1]/sum.cpu[0], sum.cpu[2]/sum.cpu[0], sum.cpu[3]/sum.cpu[0])
}

// phaseCosts are sums over apps.
type phaseCosts struct {
	same                int
	jars, scans, slices int64      // bytes
	cpu                 [4]float64 // seconds: at once, scan, assign, instrument
}

func (c *phaseCosts) add(o phaseCosts) {
	c.same += o.same
	c.jars, c.scans, c.slices = c.jars+o.jars, c.scans+o.scans, c.slices+o.slices
	for i := range c.cpu {
		c.cpu[i] += o.cpu[i]
	}
}

func (c *phaseCosts) of(bytes int64) float64 { return 100 * float64(bytes) / float64(c.jars) }

// phasedApp is an app of some jars, and the results of instrumenting it.
type phasedApp struct {
	bin, dir string
	jars     []corpus.Jar
	flags    []string
	random   *rand.Rand
	costs    phaseCosts
}

func (a *phasedApp) path(elements ...string) string {
	return filepath.Join(append([]string{a.dir}, elements...)...)
}

func (a *phasedApp) output(way string, jar int) string {
	return a.path(way, fmt.Sprint(jar)+filepath.Ext(a.jars[jar].Path))
}

// run runs the tool and adds its time to the costs.
func (a *phasedApp) run(t *testing.T, phase int, args ...string) {
	t.Helper()
	cmd := exec.Command(a.bin, args...)
	cmd.Dir = a.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tracegen %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	a.costs.cpu[phase] += float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / float64(time.Second)
}

// sides are the files beside the outputs, by the flag that asks for them.
func (a *phasedApp) sides(way string) []string {
	return []string{"--reports", a.path(way)}
}

func (a *phasedApp) atOnce(t *testing.T) {
	t.Helper()
	args := append([]string{"instrument", "-q", "--runtime-external", "--mapping", a.path("one", "map.txt")},
		a.sides("one")...)
	args = append(args, a.flags...)
	for k, j := range a.jars {
		args = append(args, j.Path+"="+a.output("one", k))
	}
	a.run(t, 0, args...)
}

func (a *phasedApp) inPhases(t *testing.T) {
	t.Helper()
	var parts [][]int
	for k := 0; k < len(a.jars); {
		var part []int
		for range 1 + a.random.IntN(3) {
			if k < len(a.jars) {
				part = append(part, k)
				k++
			}
		}
		parts = append(parts, part)
	}
	var scans []string
	for i, part := range parts {
		scan := a.path("scans", fmt.Sprintf("p%d.scan", i))
		args := append([]string{"scan", "-q", "-o", scan}, a.flags...)
		for _, k := range part {
			args = append(args, a.jars[k].Path)
			a.costs.jars += fileSize(t, a.jars[k].Path)
		}
		a.run(t, 1, args...)
		a.costs.scans += fileSize(t, scan)
		scans = append(scans, scan)
	}
	a.random.Shuffle(len(scans), func(i, j int) { scans[i], scans[j] = scans[j], scans[i] })
	args := append([]string{"assign", "-q", "--runtime-external", "--slices", a.path("ids"), "-o",
		a.path("two", "map.txt")}, a.sides("two")...)
	a.run(t, 2, append(args, scans...)...)
	for i, part := range parts {
		slice := a.path("ids", fmt.Sprintf("p%d.slice", i))
		a.costs.slices += fileSize(t, slice)
		args := []string{"instrument", "-q", "--slice", slice}
		for _, k := range part {
			args = append(args, a.jars[k].Path+"="+a.output("two", k))
		}
		a.run(t, 3, args...)
	}
}

func (a *phasedApp) compare(t *testing.T) {
	t.Helper()
	one, err := os.ReadDir(a.path("one"))
	if err != nil || len(one) != len(a.jars)+3 {
		t.Fatalf("%d outputs of %d jars: %v", len(one), len(a.jars), err)
	}
	for _, f := range one {
		want, err := os.ReadFile(a.path("one", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(a.path("two", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if a.costs.same++; !bytes.Equal(got, want) {
			t.Errorf("%v: %s differs", a.flags, f.Name())
		}
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
