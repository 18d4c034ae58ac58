package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestTextInputsInAnyEncoding writes each text that a command reads in each encoding of the editors and shells of
// Windows, and wants what the command does with UTF-8.
//
// Invariant: A text is read as the same text from UTF-8 and UTF-16, with and without a byte order mark.
func TestTextInputsInAnyEncoding(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sample := filepath.Join(root, "testdata", "sample", "sample.jar")
	texts := map[string]string{}
	for _, name := range []string{"blockcanary.txt", "json.txt"} {
		text := fixture.Read(t, filepath.Join(root, "internal/recording/source/testdata/reports", name))
		texts[name] = string(text)
	}
	t.Chdir(t.TempDir())
	run := func(args ...string) (text string, code int) {
		var out, errs bytes.Buffer
		code = runTool(context.Background(), args, strings.NewReader(""), &out, &errs)
		return out.String() + errs.String(), code
	}
	if text, code := run("instrument", sample, "-o", "out.jar", "--mapping", "map.txt", "--reports", "lists"); code != 0 {
		t.Fatal(text)
	}
	stack := "\tat a.b.c(SourceFile:1)\n"
	r8 := "sample.Main -> a.b:\n    1:1:void main(java.lang.String[]):7:7 -> c\n"
	dump := "Full thread dump OpenJDK 64-Bit Server VM (17.0.9 mixed mode):\n\n\"main\" #1 prio=5 os_prio=0 tid=0x1 " +
		"nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat sample.Main.main(Main.java:7)\n"
	inputs := []struct {
		what, file, text string
		args             []string
	}{
		{"arguments", "args.txt", "# files\n" + sample + "\n", []string{"verify", "@args.txt"}},
		{"block list", "list.txt", "[package]\n-keeppackage sample/\n",
			[]string{"instrument", sample, "-o", "o.jar", "--mapping", "o.txt", "--blocklist", "list.txt"}},
		{"configuration", "conf.yml", "rules:\n  - block: sample.Calculator\n",
			[]string{"instrument", sample, "-o", "o.jar", "--mapping", "o.txt", "--config", "conf.yml"}},
		{"base", "base.txt", fixture.Text(t, "map.txt"),
			[]string{"instrument", sample, "-o", "o.jar", "--mapping", "o.txt", "--base", "base.txt"}},
		{"mapping", "m.txt", fixture.Text(t, "map.txt"), []string{"lookup", "--mapping", "m.txt", "sample.Main"}},
		{"mapping to push", "p.txt", fixture.Text(t, "map.txt"),
			[]string{"mappings", "push", "p.txt", "--archive", "archive", "--time", "2026-11-22T13:19:28Z"}},
		{"mappings to compare", "d.txt", fixture.Text(t, "map.txt"), []string{"diff", "d.txt", "map.txt"}},
		{"source lines", "l.tsv", fixture.Text(t, "lists/lines.tsv"),
			[]string{"mappings", "push", "map.txt", "--lines", "l.tsv", "--archive", "lines", "--time", "2026-11-22T13:19:28Z"}},
		{"R8 mapping", "r8.txt", r8, []string{"symbolize", "--r8-mapping", "r8.txt", "stack.txt"}},
		{"stack", "s.txt", stack, []string{"symbolize", "--r8-mapping", "r8plain.txt", "s.txt"}},
		{"log", "log.txt", texts["blockcanary.txt"], []string{"analyze", "log.txt", "--mapping", "map.txt"}},
		{"logs", "logs.txt", texts["blockcanary.txt"], []string{"group", "logs.txt", "--mapping", "map.txt"}},
		{"thread dump", "dump.txt", dump, []string{"analyze", "dump.txt", "--mapping", "map.txt"}},
		{"reports in JSON", "json.txt", texts["json.txt"], []string{"analyze", "json.txt", "--mapping", "map.txt"}},
	}
	encodings := map[string]func(text string) []byte{
		"UTF-8, mark":    func(text string) []byte { return []byte("\uFEFF" + text) },
		"UTF-16LE, mark": func(text string) []byte { return inUTF16(binary.LittleEndian, "\uFEFF"+text) },
		"UTF-16BE, mark": func(text string) []byte { return inUTF16(binary.BigEndian, "\uFEFF"+text) },
		"UTF-16LE":       func(text string) []byte { return inUTF16(binary.LittleEndian, text) },
		"UTF-16BE":       func(text string) []byte { return inUTF16(binary.BigEndian, text) },
	}
	fixture.Write(t, "stack.txt", stack)
	fixture.Write(t, "r8plain.txt", r8)
	for _, in := range inputs {
		fixture.Write(t, in.file, in.text)
		want, code := run(in.args...)
		if code == 2 {
			t.Fatalf("%s: %s", in.what, want)
		}
		if in.args[0] == "mappings" {
			want, code = run(in.args...) // it is there now
		}
		for _, name := range slices.Sorted(maps.Keys(encodings)) {
			fixture.Write(t, in.file, encodings[name](in.text))
			if got, gotCode := run(in.args...); got != want || gotCode != code {
				t.Errorf("%s in %s: exit code %d, want %d, and it prints\n%s\nwant\n%s", in.what, name, gotCode, code, got,
					want)
			}
		}
	}
}

func inUTF16(order binary.AppendByteOrder, text string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}
