package oracle

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
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

// LinkVariants links all variants of a job in one JVM of the JDK. The results are in the order of the variants. The
// test ends if the JVM could not run to its end.
func LinkVariants(t testing.TB, j JDK, job VariantJob) []Verdict {
	t.Helper()
	whiteBox := tool{name: "whitebox", release: 11}.need(t, j)
	main := tool{name: "variants", release: 11, path: []string{whiteBox}}.need(t, j)
	args := slices.Concat(linkFlags, []string{"-XX:MaxMetaspaceSize=1500m", "-Xbootclasspath/a:" + whiteBox,
		"-cp", main, "dev.tracegen.oracle.Variants"})
	// The tool takes the file of variants where others take the jar.
	var b []byte
	for i, v := range job.Variants {
		name := strings.ReplaceAll(v.Class, "/", ".")
		b = binary.BigEndian.AppendUint32(b, uint32(i))
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(v.Data)))
		b = append(b, v.Data...)
	}
	file := fixture.Write(t, filepath.Join(t.TempDir(), "variants"), b)
	jobs := []LinkJob{{ID: "0", Jar: file, Deps: append([]string{job.Jar}, job.Deps...)}}
	verdicts := make([]Verdict, len(job.Variants))
	batch(t, j, args, jobs, []string{strconv.Itoa(linkThreads)}, func(r []string) error {
		if len(r) != 5 {
			return fmt.Errorf("%d columns", len(r))
		}
		number, err := strconv.Atoi(r[1])
		if err != nil || number >= len(verdicts) {
			return fmt.Errorf("no variant %q", r[1])
		}
		verdicts[number] = Verdict{Linked: r[2] == "ok", Exception: r[3], Message: r[4]}
		return nil
	})
	return verdicts
}
