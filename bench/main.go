// Command bench measures tracegen beside its peers: the ASM program in asm-expert, which does the same
// work without checking it, and the cost of unzipping and zipping alone, below which nobody gets.
//
// All runs are made in one go and interleaved, so that a noisy minute of the machine falls on everybody:
// the first run of every contestant, then the second of each. What is compared is whole processes from
// start to exit, as a build sees them: wall time, CPU time, peak memory. That they did the same work is
// read from what they wrote: classes changed, lines of the mapping, bytes of the classes.
//
// The table goes to standard output; it and every single run go to bench/results, named by date and
// machine, and belong into the repository together with a claim that rests on them.
//
//	go run ./bench -runs 7
//	go run ./bench -lookup -runs 21
//	go run ./bench -runs 3 -only 'tracegen.*' some.jar guava-33.4.8-jre
//	go run ./bench verify               the type verifier beside parsing and injecting, jar by jar
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// defaultJars are rows of bench/corpora.tsv: a big one, made by Kotlin, javac and ProGuard, and one of
// many small classes, made by Scala.
var defaultJars = []string{"kotlin-compiler-1.3.31", "scala-library-2.13.16"}

func main() {
	if len(os.Args) > 1 && os.Args[1] == rezipCommand {
		exitOn(rezipMain(os.Args[2:]))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == mappingCommand {
		exitOn(mappingMain(os.Args[2:]))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == verifyCommand {
		exitOn(verifyMain(os.Args[2:]))
		return
	}
	runs := flag.Int("runs", 5, "measured `runs` of every contestant")
	only := flag.String("only", "", "measure contestants whose name matches this `regexp`")
	tool := flag.String("tracegen", "./tracegen", "the tracegen `executable`")
	results := flag.String("results", filepath.Join("bench", "results"), "`directory` for the table and the raw figures; empty: none")
	lookups := flag.Bool("lookup", false, "measure look-ups in a full mapping, and nothing else")
	flag.Parse()
	if *lookups {
		exitOn(benchLookups(max(*runs, 1), *tool, *results))
		return
	}
	exitOn(bench(*runs, *only, *tool, *results, flag.Args()))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func bench(runs int, only, tool, results string, jars []string) error {
	if runs < 1 {
		return errors.New("-runs must be at least 1")
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if len(jars) == 0 {
		jars = defaultJars
	}
	if jars, err = jarPaths(jars); err != nil {
		return err
	}
	peer, err := buildPeer()
	if err != nil {
		return err
	}
	all, err := contestants(tool, peer)
	if err != nil {
		return err
	}
	var chosen []contestant
	for _, c := range all {
		if pattern.MatchString(c.name) {
			chosen = append(chosen, c)
		}
	}
	dir, err := os.MkdirTemp("", "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Outputs are looked at after the last run: memory that this process has held is charged to every
	// process that it starts afterwards (on Linux, ru_maxrss survives exec).
	var measured []series
	for i, jar := range jars {
		s, err := measureAll(chosen, jar, filepath.Join(dir, fmt.Sprint(i)), runs)
		if err != nil {
			return err
		}
		measured = append(measured, s...)
	}
	for i := range measured {
		if err := measured[i].inspect(); err != nil {
			return err
		}
	}
	return publish(measured, runs, results, "", printTables, printRuns)
}

// jarPaths turns names into paths: what is no file is a row of bench/corpora.tsv, fetched if need be.
func jarPaths(names []string) ([]string, error) {
	corpora, err := corpus.Load()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			paths = append(paths, name)
			continue
		}
		jars, err := corpora.Fetch(context.Background(), name)
		if err != nil {
			return nil, err
		}
		for _, jar := range jars {
			paths = append(paths, jar.Classes)
		}
	}
	return paths, nil
}

// buildPeer compiles the ASM program and returns its class path.
func buildPeer() (string, error) {
	dir := filepath.Join("bench", "asm-expert")
	if _, err := os.Stat(filepath.Join(dir, "pom.xml")); err != nil {
		return "", fmt.Errorf("run me from the repository's root: %w", err)
	}
	cmd := exec.Command("mvn", "-B", "-q", "package")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", dir, err, out)
	}
	target := filepath.Join(dir, "target")
	return filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "lib", "*"), nil
}
