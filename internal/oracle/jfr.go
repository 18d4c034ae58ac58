package oracle

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// JFRFlags are the JVM options that record samples of running Java code and of native methods into file, with JFR of the
// JDK: at the shortest period, with whole stacks, and at any instruction instead of safepoints alone.
func JFRFlags(file string) []string {
	return []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints",
		"-XX:FlightRecorderOptions=stackdepth=2048", "-Xlog:jfr*=error",
		"-XX:StartFlightRecording=filename=" + file + ",jdk.ExecutionSample#period=1 ms," +
			"jdk.NativeMethodSample#enabled=true,jdk.NativeMethodSample#period=1 ms"}
}

// JFRStack is a stack that JFR sampled.
type JFRStack struct {
	// Samples is how often it was seen.
	Samples int
	// Methods are the innermost method first, each as class, name and descriptor in internal form, with blanks between.
	Methods []string
}

// JFRStacks returns the stacks in a file of JFR of the threads with a name, or of all if that is empty. It fails if JFR
// cut a stack off.
func JFRStacks(ctx context.Context, j JDK, file, thread string) ([]JFRStack, error) {
	classes, err := tool{name: "jfr", release: 17}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, j.Tool("java"), "-Xmx1g", "-cp", classes, "dev.tracegen.oracle.Samples", file,
		thread).Output()
	if err != nil {
		return nil, fmt.Errorf("samples of JFR: %w", err)
	}
	var stacks []JFRStack
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")
		n, err := strconv.Atoi(words[0])
		if err != nil || len(words) < 2 || words[1] != "false" {
			return nil, fmt.Errorf("samples of JFR: a stack with %d methods is cut off: %v", len(words)-2, err)
		}
		stacks = append(stacks, JFRStack{n, words[2:]})
	}
	return stacks, lines.Err()
}
