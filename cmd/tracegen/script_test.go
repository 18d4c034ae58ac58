package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/tape"
)

var update = flag.Bool("update", false, "rewrite the expected texts in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tracegen": main,
		"jarlist":  listJar,
	})
}

// TestScripts runs the commands as their users type them. The scripts have, beside the commands of testscript,
//
//	exits CODE COMMAND...       runs a command and wants this exit code
//	jarlist FILE                prints an archive's entries in order, with checksums
//	hardlink OLD NEW            makes a second name for a file
//	swap FILE OLD NEW           replaces a text in a file, which must have it
//	class FILE NAME SUPER SIZE  makes a class with one static method m()V of that many bytes
//	method FILE NAME SUPER FLAGS METHOD DESCRIPTOR CODE
//	                            makes a class with one method with these access flags, in hexadecimal, and code
//	                            in the notation of package assembly
//	poke FILE OLD NEW           replaces bytes in a file, in hexadecimal, which must be there once
//	pack FILE ENTRY=FILE...     makes an archive of files; an ENTRY that ends in a slash is a directory
//	tape FILE TEXT              makes a recording of what the file TEXT says, in the notation of package tape
//	port VARIABLE               sets a variable to an address that is free
//	certificate CERT KEY        makes a certificate for the address
//	request METHOD URL TOKEN [FILE]
//	                            sends a request, with the file as its body, and prints the status and the answer
//	notemp                      wants no temporary file to be left behind
//
// the condition pty, whether there are pseudo terminals, and in the environment SAMPLE, the repository's sample jar,
// and CLASSES, its directory of test classes.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts(t, "testdata/script", nil))
}

// TestArchiveScripts runs scripts with an archive in a directory, and in a bucket of a server.
//
// Invariant: Recordings find their mappings in an archive by themselves, in a directory and in a bucket.
func TestArchiveScripts(t *testing.T) {
	t.Run("directory", func(t *testing.T) {
		testscript.Run(t, scripts(t, "testdata/archive", func(env *testscript.Env) {
			env.Setenv("TRACEGEN_ARCHIVE", filepath.Join(env.WorkDir, "archive"))
		}))
	})
	t.Run("bucket", func(t *testing.T) {
		s := oracle.StartObjectStore(t)
		testscript.Run(t, scripts(t, "testdata/archive", func(env *testscript.Env) {
			env.Vars = append(env.Vars, s.Env()...)
			env.Setenv("TRACEGEN_ARCHIVE", "s3://"+s.Bucket+"/app")
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
		}))
	})
}

// scripts returns the parameters for the scripts of a directory. more changes the environment; it may be nil.
func scripts(t *testing.T, dir string, more func(*testscript.Env)) testscript.Params {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name != "pty" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			_, err := os.Stat("/dev/ptmx") // a bare chroot has none
			return err == nil, nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", filepath.Join(root, "testdata", "sample", "sample.jar"))
			env.Setenv("CLASSES", filepath.Join(root, "testdata", "classes", "bin"))
			env.Setenv("BUNDLE", filepath.Join(root, "internal", "build", "artifact", "testdata", "plain.aab"))
			if more != nil {
				more(env)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    scriptExits,
			"hardlink": scriptHardlink,
			"swap":     scriptSwap,
			"class":    scriptClass,
			"method":   scriptMethod,
			"poke":     scriptPoke,
			"pack":     scriptPack,
			"tape":     scriptTape,
			"notemp":   scriptNoTemp,

			"port":        scriptPort,
			"certificate": scriptCertificate,
			"request":     scriptRequest,
		},
	}
}

func wantArguments(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 2, "exits CODE COMMAND...")
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func scriptHardlink(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 2, "hardlink OLD NEW")
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

func scriptSwap(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 3, "swap FILE OLD NEW")
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}

// scriptClass writes a class of major version 50 whose only method is static, with code of nops and a return.
func scriptClass(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 4, "class FILE NAME SUPER SIZE")
	size, err := strconv.Atoi(args[3])
	ts.Check(err)
	utf8 := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint16(append(b, 1), uint16(len(s))), s...)
	}
	b := []byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 50, 0, 8}
	b = append(utf8(b, args[1]), 7, 0, 1)          // 1 Utf8, 2 Class
	b = append(utf8(b, args[2]), 7, 0, 3)          // 3 Utf8, 4 Class
	b = utf8(utf8(utf8(b, "m"), "()V"), "Code")    // 5, 6, 7
	b = append(b, 0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0) // public super, this, super, no interfaces, no fields
	b = append(b, 0, 1, 0, 9, 0, 5, 0, 6, 0, 1)    // one method, public static, m, ()V, one attribute
	b = append(b, 0, 7)                            // Code
	b = binary.BigEndian.AppendUint32(b, uint32(12+size))
	b = append(b, 0, 0, 0, 0) // no stack, no locals
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = append(b, make([]byte, size-1)...)
	b = append(b, 0xB1, 0, 0, 0, 0, 0, 0) // return; no handlers, no attributes; none of the class
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

func scriptMethod(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 7, "method FILE NAME SUPER FLAGS METHOD DESCRIPTOR CODE")
	flags, err := strconv.ParseUint(args[3], 16, 16)
	ts.Check(err)
	c := assembly.Class{Name: args[1], Super: args[2], Methods: []assembly.Method{
		{Access: uint16(flags), Name: args[4], Descriptor: args[5], Stack: 2, Locals: 2, Code: args[6]}}}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), c.Bytes(), 0o666))
}

func scriptPoke(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 3, "poke FILE OLD NEW")
	old, err := hex.DecodeString(args[1])
	ts.Check(err)
	replacement, err := hex.DecodeString(args[2])
	ts.Check(err)
	data := []byte(ts.ReadFile(args[0]))
	if n := bytes.Count(data, old); n != 1 {
		ts.Fatalf("%s holds %s %d times, not once", args[0], args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Replace(data, old, replacement, 1), 0o666))
}

func scriptPack(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 2, "pack FILE ENTRY=FILE...")
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	w := zip.NewWriter(f)
	for _, arg := range args[1:] {
		name, from, _ := strings.Cut(arg, "=")
		entry, err := w.Create(name)
		ts.Check(err)
		if !strings.HasSuffix(name, "/") {
			_, err = entry.Write([]byte(ts.ReadFile(from)))
			ts.Check(err)
		}
	}
	ts.Check(w.Close())
}

func scriptTape(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 2, "tape FILE TEXT")
	data, err := tape.Make(ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

func scriptNoTemp(ts *testscript.TestScript, neg bool, args []string) {
	wantArguments(ts, neg, args, 0, "notemp")
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), ".tracegen-") {
			err = fmt.Errorf("%s was left behind", path)
		}
		return err
	}))
}

// listJar is the program jarlist. It reads archives by a second implementation.
func listJar() {
	r, err := zip.OpenReader(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, f := range r.File {
		fmt.Printf("%08x %d %s\n", f.CRC32, f.UncompressedSize64, f.Name)
	}
}

// builtTool returns the program, in a directory of its own: this test binary under that name, see TestMain.
func builtTool(t *testing.T) string {
	t.Helper()
	here, err := exec.LookPath("tracegen")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), filepath.Base(here))
	if err := os.Link(here, bin); err != nil {
		t.Fatal(err)
	}
	return bin
}
