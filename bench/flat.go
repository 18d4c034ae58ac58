package main

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// flatCommand measures whether the cost of a class depends on the number of other classes, and of jars.
const flatCommand = "flat"

// multiplyCommand makes this program write the inputs. It runs in a process of its own, because the memory that it uses
// would be counted for every process that is started afterwards.
const multiplyCommand = "multiply"

// seedClasses are taken from flatJar. A larger input has the same classes several times, with other names of the same
// length, so that the average class is the same in all inputs.
const (
	flatJar     = "kotlin-compiler-embeddable-2.2.20"
	seedClasses = 2000
	manyJars    = 200
)

// flatSizes are the numbers of classes, multiples of seedClasses, and generatedSizes those with -generated: a mapping
// has no more IDs than for one method of each of the last.
var (
	flatSizes      = []int{2000, 10000, 50000, 100000}
	generatedSizes = []int{2000, 10000, 100000, 1000000}
)

// flatMain measures every size as one jar and as many jars, in rounds, and writes flat.md and flat.tsv, or
// generated.md and generated.tsv.
func flatMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(flatCommand, flag.ContinueOnError)
	runs := flags.Int("runs", 5, "measured `rounds`")
	most := flags.Int("most", slices.Max(generatedSizes), "leave out inputs of more `classes`")
	generate := flags.Bool("generated", false, "small generated classes instead of those of a jar, up to a million")
	tool := flags.String("tracegen", "", "the tracegen `executable`; empty: built here")
	out := flags.String("o", today(), "`directory` for what is measured")
	scratch := flags.String("scratch", "", "`directory` for inputs and outputs, 2 GB; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	place, err := newWorkplace(ctx, *scratch, *tool)
	if err != nil {
		return err
	}
	defer os.RemoveAll(place.dir)
	from, sizes, name := generatedSeed, generatedSizes, "generated"
	if !*generate {
		seed, err := findInput(ctx, place.corpora, flatJar)
		if err != nil {
			return err
		}
		from, sizes, name = seed.jars[0], flatSizes, "flat"
	}
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(classes int) bool { return classes > *most })
	all, err := flatSeries(ctx, place.tool, from, place.dir, sizes)
	if err != nil {
		return err
	}
	w := startWatch()
	for n := range *runs {
		fmt.Fprintf(os.Stderr, "bench: flat: round %d of %d\n", n+1, *runs)
		for _, s := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.once(); s.failed != nil {
				return s.failed
			}
		}
	}
	r := &record{conditions: append(conditions(), w.conditions()...)}
	for _, s := range all {
		if err := s.measureInput(); err != nil {
			return err
		}
		r.rows = append(r.rows, s.row)
	}
	r.printFlat(os.Stdout)
	if err := writeFile(filepath.Join(*out, name+".tsv"), r.writeTo); err != nil {
		return err
	}
	return writeFile(filepath.Join(*out, name+".md"), func(w io.Writer) error { r.printFlat(w); return nil })
}

// flatSeries makes the inputs of these sizes.
func flatSeries(ctx context.Context, tool, seed, dir string, sizes []int) (all []*series, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, classes := range sizes {
		for _, jars := range []int{1, manyJars} {
			own := filepath.Join(dir, fmt.Sprintf("%d-%d", classes, jars))
			cmd := exec.CommandContext(ctx, self, multiplyCommand, seed, own, strconv.Itoa(classes), strconv.Itoa(jars))
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("making an input of %d classes: %w\n%s", classes, err, out)
			}
			s := &series{row: row{input: fmt.Sprintf("%d classes", classes), name: fmt.Sprintf("%d jars", jars)}}
			s.contestant.command = func(j job) *exec.Cmd { return tracegen(tool, j) }
			s.job = job{list: filepath.Join(own, "list"), out: filepath.Join(own, "out"),
				mapping: filepath.Join(own, "mapping.txt")}
			all = append(all, s)
		}
	}
	return all, nil
}

// measureInput counts the classes of an input and their bytes, and those of its biggest jar.
func (s *series) measureInput() error {
	jars, err := readList(s.job.list)
	if err != nil {
		return err
	}
	var biggest int64
	for _, path := range jars {
		r, err := zip.OpenReader(path)
		if err != nil {
			return err
		}
		var size int64
		for _, f := range r.File {
			size += int64(f.UncompressedSize64)
		}
		s.work.classes += len(r.File)
		s.work.before += size
		biggest = max(biggest, size)
		if err := r.Close(); err != nil {
			return err
		}
	}
	s.note = fmt.Sprintf("biggest jar: %d bytes", biggest)
	return nil
}

// printFlat writes what a class costs in each row, and how that compares with the first row.
func (r *record) printFlat(w io.Writer) {
	fmt.Fprintf(w, "# What a class costs, among few and among many\n\n")
	if r.disturbed() {
		fmt.Fprintf(w, "%s\n\n", disturbance)
	}
	for _, c := range r.conditions {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, "\n| classes | jars | wall s | CPU s | MB/s | CPU µs a class | of the first | peak MB | of the "+
		"inflated size |\n|---|---|---|---|---|---|---|---|---|\n")
	each := func(row *row) float64 { return row.median(cpuSeconds) / float64(row.work.classes) }
	for i := range r.rows {
		row := &r.rows[i]
		fmt.Fprintf(w, "| %d | %s | %.2f | %.2f | %.0f | %.0f | %.2f | %.0f | %.2f |\n", row.work.classes,
			strings.TrimSuffix(row.name, " jars"),
			row.median(wallSeconds), row.median(cpuSeconds), float64(row.work.before)/mega/row.median(wallSeconds),
			1e6*each(row), each(row)/each(&r.rows[0]), row.median(peakMB), row.median(peakMB)*mega/float64(row.work.before))
	}
}

// generatedSeed stands for the path of a jar, where classes are generated instead of copied.
const generatedSeed = "generated"

// source has classes by number. The average class of the first seedClasses, and of any multiple, is the same.
type source interface {
	class(number int) (name string, data []byte)
}

// generated is a source of small classes, each with one method that is traced and two that are trivial.
type generated struct{}

// class returns the class of a number below ten million.
func (generated) class(number int) (name string, data []byte) {
	name = fmt.Sprintf("app/p%04d/C%07d", number/1000, number)
	return name, assembly.Class{Name: name, Methods: []assembly.Method{
		{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", Stack: 1, Locals: 1,
			Code: "aload_0 | invokespecial java/lang/Object.<init>()V | return"},
		{Access: classfile.AccPublic, Name: "size", Descriptor: "()I", Stack: 1, Locals: 1, Code: "iconst_3 | ireturn"},
		{Access: classfile.AccPublic, Name: "scale", Descriptor: "(I)I", Stack: 2, Locals: 2,
			Code: "iload_1 | iconst_2 | imul | aload_0 | invokevirtual " + name + ".size()I | iadd | ireturn"},
	}}.Bytes()
}

// multiplyMain takes a jar or generatedSeed, an output directory, and the numbers of classes and of jars.
func multiplyMain(args []string) error {
	if len(args) != 4 {
		return errors.New("usage: multiply JAR DIRECTORY CLASSES JARS")
	}
	classes, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	jars, err := strconv.Atoi(args[3])
	if err != nil || jars < 1 || classes%jars != 0 {
		return errors.New("the classes do not divide into so many jars")
	}
	var from source = generated{}
	if args[0] != generatedSeed {
		if from, err = chooseClasses(args[0]); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	var list []string
	for number := range jars {
		path := filepath.Join(args[1], fmt.Sprintf("in%03d.jar", number))
		err := writeFile(path, func(w io.Writer) error {
			out := zip.NewWriter(w)
			for i := number * classes / jars; i < (number+1)*classes/jars; i++ {
				name, data := from.class(i)
				e, err := out.Create(name + ".class")
				if err == nil {
					_, err = e.Write(data)
				}
				if err != nil {
					return err
				}
			}
			return out.Close()
		})
		if err != nil {
			return err
		}
		list = append(list, path)
	}
	return writeList(filepath.Join(args[1], "list"), list)
}

// seed is a set of classes that can be copied under many names.
type seed struct {
	names []string
	data  map[string][]byte // by name
}

// chooseClasses picks classes from all over a jar whose first package name is long enough to be changed.
func chooseClasses(path string) (*seed, error) {
	r, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var files []*zip.File
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, ".class") && strings.IndexByte(f.Name, '/') >= prefixLength &&
			!strings.HasPrefix(f.Name, "META-INF/") {
			files = append(files, f)
		}
	}
	if len(files) < seedClasses {
		return nil, fmt.Errorf("%s has %d classes, want %d", path, len(files), seedClasses)
	}
	s := &seed{data: map[string][]byte{}}
	for i := range seedClasses {
		f := files[i*len(files)/seedClasses]
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(f.Name, ".class")
		s.names = append(s.names, name)
		s.data[name] = data
	}
	return s, nil
}

// prefixLength is the number of letters by which the names of copies differ.
const prefixLength = 2

// class implements source.
func (s *seed) class(number int) (name string, data []byte) {
	return s.copy(number%len(s.names), number/len(s.names))
}

// copy returns the name and the bytes of a class in the given copy. Its references to other classes of the seed are
// changed likewise.
func (s *seed) copy(i, number int) (name string, data []byte) {
	name = s.names[i]
	if number == 0 {
		return name, s.data[name]
	}
	prefix := []byte{'a' + byte(number/26%26), 'A' + byte(number%26)} // the jar has no package with such a name
	data = slices.Clone(s.data[name])
	c, err := classfile.Parse(s.data[name])
	if err != nil {
		return name, data // tracegen reports the malformed class
	}
	pool := c.ConstantPool()
	for k := range uint16(pool.Len()) {
		if pool.Tag(k) != classfile.TagUtf8 {
			continue
		}
		at := pool.Offset(int(k)) + 3
		text := data[at : at+int(binary.BigEndian.Uint16(data[at-2:]))]
		s.rename(text, prefix)
	}
	return string(prefix) + name[prefixLength:], data
}

// rename changes the names of seed classes in a Utf8 constant, which may be a name, a descriptor or a signature.
func (s *seed) rename(text, prefix []byte) {
	if s.data[string(text)] != nil {
		copy(text, prefix)
		return
	}
	for start := range text {
		if text[start] != 'L' {
			continue
		}
		rest := text[start+1:]
		if end := slices.IndexFunc(rest, func(b byte) bool { return b == ';' || b == '<' }); end > 0 &&
			s.data[string(rest[:end])] != nil {
			copy(rest, prefix)
		}
	}
}
