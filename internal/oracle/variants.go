package oracle

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variant is a changed class file of a jar's class.
type Variant struct {
	// Class is the class's name in internal form, as in the jar.
	Class string
	// Data is the class file.
	Data []byte
}

// VariantJob is a jar with variants of its classes. Each variant is linked with the jar's other classes, unchanged, and
// those of Deps.
type VariantJob struct {
	// Jar is the file, Deps are the jars that its classes refer to.
	Jar  string
	Deps []string
	// Variants may be many of one class.
	Variants []Variant
}

// Verdict is the result of linking a variant.
type Verdict struct {
	// Linked reports whether it links.
	Linked bool
	// Exception is the class of the exception if it does not link, with dots, and Message its message.
	Exception, Message string
}

// MissingClass reports whether linking failed because a class could not be found, which means nothing for the variant.
func (v Verdict) MissingClass() bool {
	switch v.Exception {
	case "java.lang.ClassNotFoundException":
		return true
	case "java.lang.NoClassDefFoundError":
		return !strings.Contains(v.Message, "wrong name") && !strings.Contains(v.Message, "ACC_MODULE")
	}
	return false
}

// LinkVariants links all variants of all jobs in one JVM of the JDK. The results are in the order of the jobs and their
// variants. An error means that the JVM could not run to its end.
func LinkVariants(ctx context.Context, j JDK, jobs []VariantJob) ([][]Verdict, error) {
	whiteBox, err := tool{name: "whitebox", release: 11}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	main, err := tool{name: "variants", release: 11, path: []string{whiteBox}}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	args := slices.Concat(linkFlags, []string{"-XX:MaxMetaspaceSize=1500m", "-Xbootclasspath/a:" + whiteBox,
		"-cp", main, "dev.tracegen.oracle.Variants"})
	verdicts := make([][]Verdict, len(jobs))
	for i := range jobs {
		verdicts[i] = make([]Verdict, len(jobs[i].Variants))
	}
	err = batchVariants(ctx, j, args, jobs, func(job, number int, columns []string) {
		verdicts[job][number] = Verdict{Linked: columns[0] == "ok", Exception: columns[1], Message: columns[2]}
	})
	return verdicts, err
}

// Opinion says whether two other verifiers accept a variant.
type Opinion struct {
	// ClassFile is the verifier of java.lang.classfile, ASM is ASM's CheckClassAdapter.
	ClassFile, ASM bool
}

// VariantOpinions runs other verifiers on variants, as [LinkVariants] runs the JVM. It needs JDK 25.
func VariantOpinions(ctx context.Context, jobs []VariantJob) ([][]Opinion, error) {
	j, err := FindJDK(25)
	if err != nil {
		return nil, err
	}
	jars, err := asmJars(ctx)
	if err != nil {
		return nil, err
	}
	main, err := tool{name: "opinions", release: 25, path: jars}.build(ctx, j)
	if err != nil {
		return nil, err
	}
	args := []string{"-Xmx2g", "-XX:+UseParallelGC", "-cp", classPath(append(jars, main)...),
		"dev.tracegen.oracle.Opinions"}
	opinions := make([][]Opinion, len(jobs))
	for i := range jobs {
		opinions[i] = make([]Opinion, len(jobs[i].Variants))
	}
	err = batchVariants(ctx, j, args, jobs, func(job, number int, columns []string) {
		opinions[job][number] = Opinion{ClassFile: columns[0] == "ok", ASM: columns[1] == "ok"}
	})
	return opinions, err
}

// batchVariants runs a tool on variants and returns the columns of each line that it wrote, after the numbers of the
// job and the variant.
func batchVariants(ctx context.Context, j JDK, args []string, jobs []VariantJob,
	each func(job, number int, columns []string)) error {
	dir, err := os.MkdirTemp("", "tracegen-variants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// These tools take the file of variants where others take the jar.
	lines := make([]LinkJob, len(jobs))
	for i, job := range jobs {
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := writeVariants(file, job.Variants); err != nil {
			return err
		}
		lines[i] = LinkJob{ID: strconv.Itoa(i), Jar: file, Deps: append([]string{job.Jar}, job.Deps...)}
	}
	err = batch(ctx, j, args, lines, []string{strconv.Itoa(linkThreads)}, func(r []string) error {
		if len(r) < 4 {
			return fmt.Errorf("%d columns are too few", len(r))
		}
		job, err := strconv.Atoi(r[0])
		if err != nil || job >= len(jobs) {
			return fmt.Errorf("no job %q", r[0])
		}
		number, err := strconv.Atoi(r[1])
		if err != nil || number >= len(jobs[job].Variants) {
			return fmt.Errorf("no variant %q", r[1])
		}
		each(job, number, r[2:])
		return nil
	})
	if err != nil {
		return fmt.Errorf("variants on JDK %d: %w", j.Feature, err)
	}
	return nil
}

// writeVariants writes the variants in the form that the tools read. Names of the classes that are linked here are
// ASCII; a variant with another name would not be found, and the tests would show that.
func writeVariants(file string, variants []Variant) error {
	var b []byte
	for i, v := range variants {
		name := strings.ReplaceAll(v.Class, "/", ".")
		b = binary.BigEndian.AppendUint32(b, uint32(i))
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(v.Data)))
		b = append(b, v.Data...)
	}
	return os.WriteFile(file, b, 0o644)
}
