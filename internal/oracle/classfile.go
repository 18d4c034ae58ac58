package oracle

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
)

// ClassFileResult is what the JDK's class file library said of a class file.
type ClassFileResult struct {
	// Job is the job's ID, Entry the file's name in the jar.
	Job, Entry string
	// Error is empty if nothing was found, or the number of findings and the first of them.
	Error string
}

// classFileJDK is the first release whose java.lang.classfile is no preview.
const classFileJDK = 24

// VerifyClassFiles verifies every class of the jars with java.lang.classfile, a verifier that shares
// nothing with HotSpot's but the specification. It needs a JDK 24 or newer; without one the error
// wraps [ErrMissing]. It knows no classes of major version 45 to 49 as the JVM does, since it has no
// inferring verifier, and finds things that HotSpot lets pass: only compare it with itself.
func VerifyClassFiles(ctx context.Context, jobs []LinkJob) ([]ClassFileResult, error) {
	j, err := FindJDK(classFileJDK)
	if err != nil {
		return nil, err
	}
	main, err := tool{name: "classfile", release: classFileJDK}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	var results []ClassFileResult
	err = batch(ctx, j, []string{"-Xmx2g", "-Xss8m", "-XX:+UseParallelGC", "-cp", main,
		"dev.tracegen.oracle.VerifyClassFile"}, jobs, []string{strconv.Itoa(linkThreads)}, func(r []string) error {
		if len(r) != 3 {
			return fmt.Errorf("%d columns", len(r))
		}
		results = append(results, ClassFileResult{r[0], r[1], r[2]})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("java.lang.classfile: %w", err)
	}
	return results, nil
}

// Javap returns the JDK's disassembly of a class file, with constant pool and all attributes.
func Javap(ctx context.Context, file string) (string, error) {
	jdks, err := FindJDKs()
	if err != nil {
		return "", err
	}
	// The newest reads all that the others read.
	out, err := exec.CommandContext(ctx, jdks[len(jdks)-1].Tool("javap"), "-v", "-p", file).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("javap %s: %w\n%s", file, err, out)
	}
	return string(out), nil
}
