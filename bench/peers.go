package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// Rows of bench/corpora.tsv that are measured beside tracegen, or that one of our drivers calls.
const (
	asmJar       = "asm-9.11.1"
	matrixJar    = "matrix-gradle-plugin-2.0.8"
	byteBuddyJar = "byte-buddy-1.18.13"
	jacocoJar    = "org.jacoco.cli-0.8.14"
)

// peers are the programs that were found, or empty: the class path of each of our programs in Java, and the path of
// JaCoCo's jar.
type peers struct {
	java                                   string
	expert, agp, matrix, byteBuddy, jacoco string
}

// findPeers fetches the jars and compiles our drivers into dir. It reports peers that are missing and leaves them out.
func findPeers(ctx context.Context, corpora *corpus.Corpus, dir string) peers {
	var p peers
	jdk, err := oracle.FindJDK(17)
	if err != nil {
		notMeasured("what is written in Java", err)
		return p
	}
	driver := func(name, row string, others ...string) string {
		path, err := buildDriver(ctx, corpora, jdk, append(others, name), row, filepath.Join(dir, name))
		if err != nil {
			notMeasured(name, err)
		}
		return path
	}
	p.java = jdk.Tool("java")
	p.expert = driver("asm-expert", asmJar)
	p.agp = driver("agp-driver", asmJar, "asm-expert")
	p.matrix = driver("matrix-driver", matrixJar)
	p.byteBuddy = driver("bytebuddy-driver", byteBuddyJar)
	if jars, err := corpora.Fetch(ctx, jacocoJar); err != nil {
		notMeasured(rowJacoco, err)
	} else {
		p.jacoco = jars[0].Path
	}
	return p
}

// buildDriver compiles the sources in these directories of bench with the jars of a row and returns the class path to
// run them with.
func buildDriver(ctx context.Context, corpora *corpus.Corpus, jdk oracle.JDK, names []string, row, out string) (string,
	error) {
	jars, err := corpora.Fetch(ctx, row)
	if err != nil {
		return "", err
	}
	libraries := strings.Join(append([]string{jars[0].Path}, jars[0].DepPaths...), string(os.PathListSeparator))
	args := []string{"--release", "17", "-encoding", "UTF-8", "-proc:none", "-d", out, "-cp", libraries}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join("bench", name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".java" {
				args = append(args, path)
			}
			return err
		})
		if err != nil {
			return "", fmt.Errorf("run this program in the root directory of the repository: %w", err)
		}
	}
	if said, err := exec.CommandContext(ctx, jdk.Tool("javac"), args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, said)
	}
	return libraries + string(os.PathListSeparator) + out, nil
}
