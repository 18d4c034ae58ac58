//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

const waitingSource = `public class Waiting {
    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> hook()));
        System.out.println("ready " + spin(100));
        new java.util.concurrent.CountDownLatch(1).await();
    }
    static void hook() { for (int i = 0; i < 3; i++) spin(10); System.out.println("the hook has run"); }` + spin + `
}`

// TestRecordInterrupted stops a program that never ends: by a signal to tracegen, as a service manager sends it, and by
// one to both, as a terminal does. The program runs its hooks, and the answer comes.
//
// Invariant: A signal ends the program that is recorded, and not the answer.
func TestRecordInterrupted(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("waiting", "", map[string]string{"Waiting.java": waitingSource})
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		group  bool
		code   string
	}{
		{"SIGINT to tracegen", syscall.SIGINT, false, "130"},
		{"SIGTERM to tracegen", syscall.SIGTERM, false, "143"},
		{"SIGINT to both", syscall.SIGINT, true, "130"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("tracegen", "record", "--format", "table", "--", "java", "-cp", "waiting", "Waiting")
			cmd.Dir, cmd.Env = b.dir, b.env
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// If nothing comes, the test must end before that of the whole package.
			guard := time.AfterFunc(5*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer guard.Stop()
			lines := bufio.NewReader(out)
			if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready") {
				t.Fatalf("the program begins with %q, %v\n%s", line, err, &stderr)
			}
			to := cmd.Process.Pid
			if c.group {
				to = -to
			}
			if err := syscall.Kill(to, c.signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s%s", err, rest, &stderr)
			}
			b := &javaBench{T: t}
			b.want(string(rest), `^the hook has run$`, ` Waiting\.main`, ` Waiting\.spin`)
			b.want(stderr.String(), `^tracegen: the program was interrupted, and ended with exit code `+c.code)
		})
	}
}

// TestRecordKilled checks that a program that is killed is analyzed: its recording is written while it runs.
func TestRecordKilled(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("killed", "", map[string]string{"Killed.java": `public class Killed {
    public static void main(String[] a) throws Exception {
        java.io.File f = new java.io.File("Killed.tgd");
        spin(100);
        while (f.length() < 2000) { spin(1000); Thread.sleep(1); }
        new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start().waitFor();
    }` + spin + `
}`})
	r := b.record(1, "--format", "table", "--", "java", "-cp", "killed", "Killed")
	b.want(r.stdout, ` Killed\.spin`)
	b.want(r.stderr, `^tracegen: the program ended with exit code 137 \(SIGKILL\)$`)
}

// pageCommand is a command of a document: a line that is indented by four blanks.
var pageCommand = regexp.MustCompile(`(?m)^    (tracegen .*)$`)

const exampleSource = `package com.example;
public class Main {
    public static void main(String[] args) {
        new Server().handle();
        for (String a : args) spin(a.length());
    }` + spin + `
}
class Server { void handle() { for (int i = 0; i < 5; i++) Main.spin(1000); } }`

// TestRecordPage runs the commands of docs/record.md, in their order.
//
// Invariant: Every command of docs/record.md runs.
func TestRecordPage(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	page := fixture.Read(t, filepath.Join("..", "..", "docs", "record.md"))
	b.compile("app", "", map[string]string{"Main.java": exampleSource})
	b.compile("plug", "", map[string]string{"Plug.java": "class Plug { void m() { } }"})
	b.compile("mods/com.example", "", map[string]string{"Main.java": exampleSource,
		"module-info.java": "module com.example { }"})
	b.archive("app.jar", "Main-Class: com.example.Main\r\n", "app")
	b.archive("lib/app.jar", "", "app")
	b.archive("plugins/plug.jar", "", "plug")
	script := b.write("bin/app", "#!/bin/sh\nexec java -cp lib/app.jar com.example.Main \"$@\"\n")
	if err := os.Chmod(script, 0o777); err != nil {
		t.Fatal(err)
	}
	commands := pageCommand.FindAllStringSubmatch(string(page), -1)
	if len(commands) < 10 {
		t.Fatalf("only %d commands are found", len(commands))
	}
	for _, m := range commands {
		r := b.run([]string{"PATH=" + filepath.Join(b.jdk.Home, "bin") + ":" + os.Getenv("PATH")},
			"sh", "-c", m[1])
		if r.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", m[1], r.code, r.stdout, r.stderr)
		}
	}
	for _, name := range []string{"app.tgd", "app.tgd.1", "app-mapping.txt", "app.html", "answer.json"} {
		if _, err := os.Stat(b.path(name)); err != nil {
			t.Error(err)
		}
	}
}
