package oracle

import (
	"context"
	"fmt"
	"strconv"
)

// ClassFileResult is the result of the JDK's class file library for a class file.
type ClassFileResult struct {
	// Job is the job's ID, Entry the file's name in the jar.
	Job, Entry string
	// Error is empty if nothing was found, or the number of findings and the first of them.
	Error string
}

// classFileJDK is the first release in which java.lang.classfile is not a preview.
const classFileJDK = 24

// VerifyClassFiles verifies every class of the jars with java.lang.classfile, a verifier that shares only the
// specification with HotSpot's. It needs JDK 24 or newer; without one the error wraps [ErrMissing]. It has no inferring
// verifier, so that its results for major versions 45 to 49 differ from the JVM's, and it reports faults that HotSpot
// accepts. Its results must be compared only with its own results for another class.
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
