package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// javaBench is a directory with Java programs that a test compiles and records.
type javaBench struct {
	*testing.T
	jdk oracle.JDK
	dir string
	env []string
}

func newJavaBench(t *testing.T) *javaBench {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short")
	}
	jdk := oracle.NeedJDK(t, 11)
	b := &javaBench{T: t, jdk: jdk, dir: t.TempDir()}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "CLASSPATH", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "XDG_CACHE_HOME":
		default:
			b.env = append(b.env, v)
		}
	}
	b.env = append(b.env, "PATH="+filepath.Join(jdk.Home, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"), "TMPDIR="+b.mkdir("tmp"))
	return b
}

func (b *javaBench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *javaBench) mkdir(name string) string {
	b.Helper()
	return fixture.Directory(b, b.path(name))
}

func (b *javaBench) write(name, text string) string {
	b.Helper()
	return fixture.Write(b, b.path(name), text)
}

func (b *javaBench) rename(from, to string) {
	b.Helper()
	if err := os.Rename(b.path(from), b.path(to)); err != nil {
		b.Fatal(err)
	}
}

func (b *javaBench) read(name string) string {
	b.Helper()
	return fixture.Text(b, b.path(name))
}

// compile compiles sources, by file name, into the directory out. path is the class path, or "".
func (b *javaBench) compile(out, path string, sources map[string]string) {
	b.Helper()
	args := []string{"-d", b.mkdir(out)}
	if path != "" {
		args = append(args, "-cp", path)
	}
	for name, text := range sources {
		args = append(args, b.write("src/"+out+"/"+name, text))
	}
	b.tool("javac", args...)
}

// tool runs a program of the JDK.
func (b *javaBench) tool(name string, args ...string) string {
	b.Helper()
	cmd := exec.Command(b.jdk.Tool(name), args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out := fixture.Run(b, cmd)
	return string(out)
}

// archive packs the files below a directory, in the order of names. The manifest is the first entry. Archives are not
// compressed, as Spring Boot needs them.
func (b *javaBench) archive(name, manifest, from string) {
	b.Helper()
	entries := []fixture.Entry{{Name: "META-INF/MANIFEST.MF", Data: "Manifest-Version: 1.0\r\n" + manifest + "\r\n"}}
	err := fs.WalkDir(os.DirFS(b.path(from)), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case d.IsDir():
			entries = append(entries, fixture.Entry{Name: path + "/"}) // Spring Boot's loader needs it
		default:
			entries = append(entries, fixture.Entry{Name: path, Data: b.read(from + "/" + path),
				Stored: strings.HasSuffix(path, ".jar")})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	fixture.Write(b, b.path(name), fixture.Pack(b, entries...))
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command in the directory, with variables added to the environment.
func (b *javaBench) run(env []string, name string, args ...string) result {
	b.Helper()
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir, cmd.Env = b.dir, append(b.env, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		b.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// record runs tracegen record, and wants an exit code.
func (b *javaBench) record(code int, args ...string) result {
	b.Helper()
	return b.recordWith(nil, code, args...)
}

func (b *javaBench) recordWith(env []string, code int, args ...string) result {
	b.Helper()
	r := b.run(env, "tracegen", append([]string{"record"}, args...)...)
	if r.code != code {
		b.Fatalf("tracegen record %q: exit code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// want checks that a text has lines that match.
func (b *javaBench) want(text string, patterns ...string) {
	b.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(text) {
			b.Errorf("no line matches %s in\n%s", p, text)
		}
	}
}

// The programs do nothing of value; their methods are big enough to be traced.
const (
	spin = `
    static int spin(int n) { int s = 0; for (int i = 0; i < n; i++) { s += i % 7; if (s > 1000) s -= n; } return s; }`
	mainSource = `package app;
import java.io.*; import java.util.*;
public class Main {
    public static void main(String[] args) throws Exception {
        System.out.println("class path " + System.getProperty("java.class.path"));
        System.out.println("arguments " + Arrays.toString(args) + " in " + new File("").getAbsolutePath());
        System.out.println("source " + Main.class.getProtectionDomain().getCodeSource().getLocation());
        System.out.println("package " + Main.class.getPackage().getImplementationVersion());
        System.out.println("signers " + (Main.class.getSigners() == null ? 0 : Main.class.getSigners().length));
        try (InputStream in = Main.class.getResourceAsStream("/text.txt")) {
            System.out.println("resource " + new String(in.readAllBytes()));
        }
        for (Runnable r : ServiceLoader.load(Runnable.class)) r.run();
        System.out.println(util.Util.answer(spin(1000)) + " "
            + new BufferedReader(new InputStreamReader(System.in)).readLine());
        if (args.length > 0 && args[0].equals("fail")) throw new IllegalStateException("as asked for");
        if (args.length > 0 && args[0].equals("exit")) System.exit(Integer.parseInt(args[1]));
    }` + spin + `
}`
	utilSource = `package util;
public class Util implements Runnable {
    public static String answer(int n) { return "util " + (spin(n) == 0 ? "zero" : "some") + Version.name(); }
    public void run() { System.out.println("service " + (spin(5) >= 0)); }` + spin + `
}`
	versionSource = `package util;
class Version { static String name() { int n = 0; for (int i = 0; i < 10; i++) n += i; return " base " + n; } }`
)

// program makes app.jar, whose manifest names lib/util.jar, which has a service and a class of its own for newer JDKs.
func (b *javaBench) program() {
	b.Helper()
	b.compile("util", "", map[string]string{"Util.java": utilSource, "Version.java": versionSource})
	b.compile("newer", "", map[string]string{"Version.java": strings.ReplaceAll(versionSource, " base ", " newer ")})
	b.mkdir("util/META-INF/versions/9/util")
	b.rename("newer/util/Version.class", "util/META-INF/versions/9/util/Version.class")
	b.write("util/META-INF/services/java.lang.Runnable", "util.Util\n")
	b.archive("lib/util.jar", "Multi-Release: true\r\n", "util")
	b.compile("app", b.path("lib/util.jar"), map[string]string{"Main.java": mainSource})
	b.write("app/text.txt", "a text")
	b.archive("app.jar", "Main-Class: app.Main\r\nImplementation-Version: 7\r\n"+
		"Class-Path: lib/missing.jar lib/util.jar\r\n", "app")
}

// TestRecordJar records a signed archive whose manifest names another. The program sees what it sees without tracegen,
// and its archives are not touched. The second run reuses everything, and so does a third without the right to write.
//
// Invariant: A recorded program has its own archives, class path, resources, services and code sources.
func TestRecordJar(t *testing.T) {
	b := newJavaBench(t)
	b.program()
	b.tool("keytool", "-genkeypair", "-keystore", b.path("keys"), "-storepass", "secret", "-alias", "me", "-dname",
		"CN=me", "-keyalg", "EC")
	b.tool("jarsigner", "-keystore", b.path("keys"), "-storepass", "secret", b.path("app.jar"), "me")
	before := b.read("app.jar") + b.read("lib/util.jar")

	plain := b.run(nil, "java", "-Xmx64m", "-jar", "app.jar", "an argument", "")
	b.want(plain.stdout, `^service true$`, `^resource a text$`, `^util some newer 45 null$`, `^signers 1$`)
	r := b.record(0, "--answer", "answer.txt", "--format", "table", "--", "java", "-Xmx64m", "-jar", "app.jar",
		"an argument", "")
	if r.stdout != plain.stdout {
		t.Errorf("the program prints\n%swithout tracegen\n%s", r.stdout, plain.stdout)
	}
	b.want(r.stderr, `^tracegen: instrumented: \d+ of \d+ methods traced, in 4 of 4 classes of 2 archives`,
		`^tracegen: libraries, in 1 of the archives: \d+ of \d+ methods are traced; --scope all`,
		`^tracegen: recorded: app\.tgd, with the mapping app-mapping\.txt$`,
		`^tracegen: recording cost: (about|at least) \d+\.\d times the CPU time of the plain program`)
	b.want(b.read("answer.txt"), ` app\.Main\.main( +\[.*)?$`, ` app\.Main\.spin$`,
		` util\.Util\.spin$`, ` util\.Util\.run$`, ` util\.Version\.name$`)
	if after := b.read("app.jar") + b.read("lib/util.jar"); after != before {
		t.Error("an archive of the program has changed")
	}

	r = b.record(0, "--answer", "again.txt", "--", "java", "-jar", "app.jar")
	b.want(r.stderr, `^tracegen: reused, as nothing has changed: `)
	b.want(b.read("app.tgd")[:4]+b.read("app.tgd.1")[:4], "^TGD1TGD1$")

	// One class of one archive changes: what is known of the other is used.
	b.write("util/more.txt", "more")
	b.archive("lib/util.jar", "Multi-Release: true\r\n", "util")
	r = b.record(0, "-v", "--answer", "again.txt", "--", "java", "-jar", "app.jar")
	b.want(r.stderr, `^tracegen: instrumented: `, `^tracegen: cache: .* [12] copied`)
}

// TestRecordClassPath records programs whose classes come from directories, wildcards and a variable.
func TestRecordClassPath(t *testing.T) {
	b := newJavaBench(t)
	b.program()
	b.write("args", "-cp \"app"+string(filepath.ListSeparator)+"lib/*\"\n  app.Main # the program\n from-file")
	list := strings.Join([]string{"missing", "app", "lib/*"}, string(filepath.ListSeparator))
	for name, c := range map[string]struct {
		env, args []string
		want      string
	}{
		"-cp":              {args: []string{"-cp", list, "app.Main", "x"}, want: `^arguments \[x\]`},
		"--class-path":     {args: []string{"--class-path=" + list, "app.Main"}, want: `^arguments \[\]`},
		"CLASSPATH":        {env: []string{"CLASSPATH=" + list}, args: []string{"app.Main"}, want: `^arguments \[\]`},
		"argument file":    {args: []string{"@args", "-x"}, want: `^arguments \[from-file, -x\]`},
		"JDK_JAVA_OPTIONS": {env: []string{"JDK_JAVA_OPTIONS=-cp " + list}, args: []string{"app.Main"}, want: `^arguments`},
	} {
		args := append([]string{"java"}, c.args...)
		plain := b.run(c.env, "java", c.args...)
		answer := strings.NewReplacer(" ", "", "-", "").Replace(name) + ".txt"
		r := b.recordWith(c.env, 0, append([]string{"--scope", "all", "--format", "table", "--answer", answer, "--"},
			args...)...)
		if r.stdout != plain.stdout {
			t.Errorf("%s: the program prints\n%swithout tracegen\n%s", name, r.stdout, plain.stdout)
		}
		b.want(r.stdout, c.want)
		b.want(b.read(answer), ` app\.Main\.main( +\[.*)?$`, ` util\.Util\.answer$`)
	}
	if _, err := os.Stat(b.path("Main.tgd")); err != nil {
		t.Error(err) // the name of the main class
	}
}

// TestRecordModule records a module of a module path.
func TestRecordModule(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("mods/m", "", map[string]string{"module-info.java": "module m { exports m.api; }", "Main.java": `
package m.api;
public class Main {
    public static void main(String[] a) { System.out.println(spin(10) + Main.class.getModule().getName()); }` + spin + `
}`})
	r := b.record(0, "--format", "table", "--", "java", "-p", "mods", "-m", "m/m.api.Main")
	b.want(r.stdout, `m$`, ` m\.api\.Main\.spin$`)
	if _, err := os.Stat(b.path("m.tgd")); err != nil {
		t.Error(err)
	}

	// The same module in an image that jlink made: its jar must be named.
	b.tool("jlink", "-p", b.path("mods"), "--add-modules", "m,java.instrument", "--output", b.path("image"))
	java := b.path("image/bin/java")
	r = b.record(2, "--", java, "-m", "m/m.api.Main")
	b.want(r.stderr, `no module path, so that the module of m/m\.api\.Main is in the image .*by --also$`)
	r = b.record(0, "--also", "mods/m", "--format", "table", "--", java, "-m", "m/m.api.Main")
	b.want(r.stdout, `m$`, ` m\.api\.Main\.spin$`)
}

const spinSource = `public class Spin {
    public static void main(String[] a) { System.out.println(spin(10) + java.util.Arrays.toString(a)); }` + spin + `
}`

// TestRecordJVMOptions records with options of java that forbid, refuse or change what record does to the JVM: a
// security manager, archives of loaded classes, and preview features. The program prints what it prints without record.
func TestRecordJVMOptions(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	for _, jdk := range jdks {
		b.jdk = jdk
		java, name := jdk.Tool("java"), fmt.Sprint("jdk", jdk.Feature)
		b.compile(name, "", map[string]string{"Spin.java": spinSource})
		b.archive(name+".jar", "Main-Class: Spin\r\n", name)
		class := []byte(b.read(name + "/Spin.class"))
		class[4], class[5] = 0xFF, 0xFF
		b.write(name+"-preview/Spin.class", string(class))
		rows := map[string][]string{}
		if jdk.Feature < 24 {
			rows["security manager"] = []string{"-Djava.security.manager"}
		}
		if jdk.Feature >= 13 {
			b.run(nil, java, "-XX:ArchiveClassesAtExit="+name+".jsa", "-jar", name+".jar")
			rows["class archive"] = []string{"-XX:SharedArchiveFile=" + name + ".jsa", "-Xshare:on"}
		}
		if jdk.Feature >= 25 {
			b.run(nil, java, "-XX:AOTCacheOutput="+name+".aot", "-jar", name+".jar")
			rows["AOT cache"] = []string{"-XX:AOTCache=" + name + ".aot", "-XX:AOTMode=on"}
		}
		if jdk.Feature >= 12 {
			rows["preview"] = []string{"--enable-preview", "-cp", name + "-preview", "Spin", "x"}
		}
		for about, options := range rows {
			args := append(options, "-jar", name+".jar", "x")
			if about == "preview" {
				args = options
			}
			plain := b.run(nil, java, args...)
			if plain.code != 0 {
				t.Errorf("JDK %d, %s: without record: %s", jdk.Feature, about, plain.stderr)
			}
			r := b.record(0, append([]string{"--format", "table", "--answer", "answer.txt", "--", java}, args...)...)
			if r.stdout != plain.stdout {
				t.Errorf("JDK %d, %s: the program prints\n%swithout tracegen\n%s%s", jdk.Feature, about, r.stdout,
					plain.stdout, r.stderr)
			}
			b.want(b.read("answer.txt"), ` Spin\.main$`, ` Spin\.spin$`)
		}
	}
}

// TestRecordSpringBoot records an archive that holds others, with Spring Boot's own loader.
func TestRecordSpringBoot(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	loader := oracle.Artifact{Group: "org.springframework.boot", Name: "spring-boot-loader", Version: "3.3.5", Type: "jar"}
	dir, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, []oracle.Artifact{loader}))
	if b.jdk.Feature < 17 {
		t.Skip("skipped: this loader needs Java 17")
	}
	b.program()
	boot := b.mkdir("boot")
	cmd := exec.Command(b.jdk.Tool("jar"), "xf", filepath.Join(dir, loader.File()))
	cmd.Dir = boot
	fixture.Run(t, cmd)
	if err := os.RemoveAll(filepath.Join(boot, "META-INF")); err != nil {
		t.Fatal(err)
	}
	b.mkdir("boot/BOOT-INF/lib")
	if err := os.CopyFS(b.path("boot/BOOT-INF/classes"), os.DirFS(b.path("app"))); err != nil {
		t.Fatal(err)
	}
	b.write("boot/BOOT-INF/lib/util.jar", b.read("lib/util.jar"))
	b.archive("fat.jar", "Main-Class: org.springframework.boot.loader.launch.JarLauncher\r\nStart-Class: app.Main\r\n"+
		"Spring-Boot-Classes: BOOT-INF/classes/\r\nSpring-Boot-Lib: BOOT-INF/lib/\r\n", "boot")
	plain := b.run(nil, "java", "-jar", "fat.jar", "x")
	b.want(plain.stdout, `^source jar:nested:`, `^util some newer`)
	r := b.record(0, "--format", "table", "--answer", "answer.txt", "--", "java", "-jar", "fat.jar", "x")
	if r.stdout != plain.stdout {
		t.Errorf("the program prints\n%swithout tracegen\n%s", r.stdout, plain.stdout)
	}
	b.want(b.read("answer.txt"), ` app\.Main\.main( +\[.*)?$`, ` util\.Util\.run$`, ` util\.Version\.name$`,
		` org\.springframework\.boot\.loader\.launch\.`)

	// Instrumented as it is, it runs with the command of docs/instrument.md.
	out := b.run(nil, "tracegen", "instrument", "fat.jar", "-o", "out.jar", "--set", "trivial=none")
	b.want(out.stdout, `^fat.jar -> out.jar: `)
	b.want(b.read("methodMapping.txt"), `util\.Version name `, `app\.Main main `)
	launched := b.run(nil, "java", "-cp", "out.jar"+string(filepath.ListSeparator)+"tracegen-runtime.jar",
		"org.springframework.boot.loader.launch.JarLauncher", "x")
	want := strings.ReplaceAll(plain.stdout, "fat.jar", "out.jar")
	want = strings.Replace(want, "class path out.jar", "class path out.jar"+string(filepath.ListSeparator)+
		"tracegen-runtime.jar", 1)
	if launched.stdout != want {
		t.Errorf("instrumented, the program prints\n%sbefore\n%s%s", launched.stdout, want, launched.stderr)
	}
}

// TestRecordExitCodes checks the exit code, what is said of the program's own, and of a program of which nothing was
// recorded.
func TestRecordExitCodes(t *testing.T) {
	b := newJavaBench(t)
	b.program()
	java := []string{"java", "-jar", "app.jar"}
	r := b.record(1, append([]string{"--slow", "60000"}, append(java, "exit", "3")...)...) // what follows java is of it
	b.want(r.stderr, `^tracegen: the program ended with exit code 3$`, `^tracegen: recorded: app.tgd`)
	b.want(r.stdout, `^No stall of 60\.0 s or more: the setting slow, --slow of record, lowers this$`, ` app\.Main\.main( |$)`)
	r = b.record(1, append([]string{"--"}, append(java, "fail")...)...)
	b.want(r.stderr, `as asked for`, `^tracegen: the program ended with exit code 1$`)
	r = b.record(0, append([]string{"--slow", "1", "-o", "deep/er/x.tgd", "--"}, append(java, "exit", "0")...)...)
	b.want(r.stdout, `^deep/er/x\.tgd: `, `#1 on main: app\.Main\.main`)
	if _, err := os.Stat(b.path("deep/er/x-mapping.txt")); err != nil {
		t.Error(err)
	}
	b.compile("empty", "", map[string]string{
		"Empty.java": "public class Empty { public static void main(String[] a) { } }"})
	r = b.record(2, "java", "-cp", "empty", "Empty")
	b.want(r.stderr,
		`nothing was recorded: none of the 2 methods in empty is traced \(2 trivial\).* ended with exit code 0$`)
	r = b.record(2, "--also", "app.jar", "java", "-cp", "empty", "Empty")
	b.want(r.stderr, `nothing was recorded: the program has loaded none of the \d classes that are traced, of empty, `+
		`app\.jar, lib/util\.jar: `)
}

// TestRecordLetsMethodsGo records a program that floods until its method is let go, in calls that end by exceptions
// too, and goes on behind that. It computes the same as without tracegen, the answer does not say that it knows the
// number of calls, and with a property they are counted.
func TestRecordLetsMethodsGo(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("flood", "", map[string]string{"Flood.java": `public class Flood {
    static long mix(long x) {
        x ^= x << 13; x ^= x >>> 7; x ^= x << 17;
        if (x % 100003 == 0) throw new IllegalStateException("" + x);
        return x % 3 == 0 && (x & 1) == 0 ? mix(x + 1) : x;
    }
    static long round(long x, int n) {
        for (int k = 0; k < n; k++) {
            try { x = mix(x); } catch (IllegalStateException e) { x += e.getMessage().length(); }
        }
        return x;
    }
    static boolean gone() throws Exception {
        if (System.getProperty("tracegen.gate").equals("counted")) return true;
        Class<?> edition = Class.forName("dev.tracegen.runtime.Edition");
        java.lang.reflect.Field f = edition.getDeclaredField("LET_GO");
        f.setAccessible(true);
        for (byte gone : (byte[]) f.get(null)) if (gone != 0) return true;
        return false;
    }
    public static void main(String[] a) throws Exception {
        while (a.length == 0 && !gone()) round(1, 1_000_000);
        System.out.println("result " + round(1, 3_000_000));
    }
}`})
	plain := b.run(nil, "java", "-cp", "flood", "Flood", "plain")
	for _, gate := range []string{"auto", "counted"} {
		r := b.record(0, "--", "java", "-Dtracegen.gate="+gate, "-cp", "flood", "Flood")
		if line := strings.TrimSpace(plain.stdout); !strings.Contains(r.stdout, line) {
			t.Errorf("%s: it does not print %q:\n%s", gate, line, r.stdout)
		}
		b.want(r.stderr, `; to pay less: record --profile Flood-profile\.txt \(methods left out: [1-9]`)
		if more := strings.Contains(r.stdout, "more than "); more != (gate == "auto") {
			t.Errorf("%s: the answer says %v that there were more calls:\n%s", gate, more, r.stdout)
		}
	}
	// The recording says how the next one costs less.
	b.want(b.read("Flood-profile.txt"), `(?m)^none .* Flood mix `)
	r := b.record(0, "--profile", "Flood-profile.txt", "--", "java", "-cp", "flood", "Flood", "plain")
	mapping := b.read("Flood-mapping.txt")
	if strings.Contains(mapping, "mix") || strings.Contains(r.stderr, "to pay less") {
		t.Errorf("with the profile:\n%s%s", mapping, r.stderr)
	}
}

// TestRecordKeepsMappings checks that the mapping of an earlier build stays when the program has changed.
func TestRecordKeepsMappings(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.program()
	b.record(0, "-q", "--", "java", "-jar", "app.jar")
	first := b.read("app-mapping.txt")
	b.compile("app", b.path("lib/util.jar"), map[string]string{
		"Main.java": strings.ReplaceAll(mainSource, "spin(", "turn(")})
	b.archive("app.jar", "Main-Class: app.Main\r\nClass-Path: lib/util.jar\r\n", "app")
	b.record(0, "-q", "--", "java", "-jar", "app.jar")
	kept, err := filepath.Glob(b.path("app-mapping-*.txt"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("mappings of earlier builds: %v, %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != first {
		t.Errorf("the mapping of the first build was changed: %v", err)
	}
	r := b.run(nil, "tracegen", "analyze", "app.tgd.1", "--mapping", ".", "--format", "table")
	b.want(r.stdout, ` app\.Main\.spin$`)
}

// TestRecordChangedClasses records a program whose class loader changes a class before it defines it: the class is not
// traced, and that is said.
func TestRecordChangedClasses(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("changing", "", map[string]string{"Start.java": `
public class Start {
    public static void main(String[] a) throws Exception {
        byte[] file = Start.class.getResourceAsStream("/Changed.class").readAllBytes();
        byte[] changed = new String(file, "ISO-8859-1").replace("before", "behind").getBytes("ISO-8859-1");
        Class<?> c = new ClassLoader(null) {
            Class<?> define() { return defineClass("Changed", changed, 0, changed.length); }
        }.define();
        System.out.println(c.getMethod("text", int.class).invoke(null, spin(3)));
    }` + spin + `
}`, "Changed.java": `
public class Changed {
    public static String text(int n) { String s = "before"; for (int i = 0; i < n; i++) s += i; return s; }
}`})
	r := b.record(0, "--format", "table", "--", "java", "-cp", "changing", "Start")
	b.want(r.stdout, `^behind`, ` Start\.main$`)
	b.want(r.stderr, `^tracegen: warning: 1 classes were changed before the JVM loaded them, and are not traced; `+
		`the first is Changed$`)
	if strings.Contains(r.stdout, " Changed.text") {
		t.Errorf("the changed class is traced:\n%s", r.stdout)
	}
}

// TestRecordClassesOfOneHash records a program with a class that is not traced, and has Java's hash code of the name
// of a traced one, and with one that is traced in another version only: neither was changed.
func TestRecordClassesOfOneHash(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	text := "class Text { static String of(int n) { String s = \"\"; for (int i = 0; i < n; i++) s += i; return s; } }"
	b.compile("base", "", map[string]string{"Text.java": text, "Aa.java": `
public class Aa implements BB {
    public static void main(String[] a) throws Exception { System.out.println(Text.of(spin(3))); }` + spin + `
}
interface BB { }`})
	b.compile("newer", "", map[string]string{"Text.java": "class Text { static String of(int n) { return \"newer\"; } }"})
	b.mkdir("base/META-INF/versions/9")
	b.rename("newer/Text.class", "base/META-INF/versions/9/Text.class")
	b.archive("app.jar", "Multi-Release: true\r\nMain-Class: Aa\r\n", "base")
	r := b.record(0, "--format", "table", "--", "java", "-jar", "app.jar")
	b.want(r.stdout, `^newer`, ` Aa\.main$`)
	if strings.Contains(r.stderr, "warning") {
		t.Errorf("record says:\n%s", r.stderr)
	}
}

// TestRecordStartScript records what a start script runs, whose archives --also names.
func TestRecordStartScript(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.program()
	script := b.write("bin/start", "#!/bin/sh\nexec java -jar app.jar \"$@\"\n")
	if err := os.Chmod(script, 0o777); err != nil {
		t.Fatal(err)
	}
	r := b.record(0, "--also", "app.jar", "--also", "lib/*", "--format", "table", "--", "./bin/start", "two words")
	b.want(r.stdout, `^arguments \[two words\]`, ` app\.Main\.main( +\[.*)?$`, ` util\.Util\.answer$`)
	b.want(r.stderr, `recorded: start\.tgd`)

	// Scripts that want a version. A java that has a full path reports the variable.
	for java, code := range map[string]int{"java": 0, `"$JAVA_HOME/bin/java"`: 0, "'" + b.jdk.Tool("java") + "'": 2} {
		b.write("bin/start", "#!/bin/sh\nV=$("+java+` -version 2>&1 | head -1 | sed 's/.*version "\([0-9]*\).*/\1/')
case $V in *[!0-9]*) echo "too old: $V"; exit 3 ;; esac
exec `+java+" -jar app.jar \"$@\"\n")
		r := b.recordWith([]string{"JAVA_HOME=" + b.jdk.Home}, code, "--also", "app.jar", "--format", "table", "--",
			"./bin/start")
		if code == 0 {
			b.want(r.stdout, ` app\.Main\.main( +\[.*)?$`)
		} else {
			b.want(r.stdout, `^too old: Picked up JAVA_TOOL_OPTIONS`)
			b.want(r.stderr, `nothing was recorded: java was started, and ran no main class\. .* finds the line "Picked up `+
				`JAVA_TOOL_OPTIONS" if it names java by a full path: .*; the program ended with exit code 3$`)
		}
	}
	if left, _ := filepath.Glob(b.path("tmp/tracegen-*")); len(left) > 0 {
		t.Errorf("these stay: %q", left)
	}
}

// TestRecordSeveralJVMs records a start script that starts two JVMs, one after the other, twice.
//
// Invariant: The answer of record is about all JVMs of its run, and about no earlier run.
func TestRecordSeveralJVMs(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.compile("first", "", map[string]string{"First.java": "public class First {\n" +
		"    public static void main(String[] a) { spin(1000); }" + spin + "\n}"})
	b.compile("second", "", map[string]string{"Second.java": "public class Second {\n" +
		"    public static void main(String[] a) { spin(1000); }" + spin + "\n}"})
	script := b.write("bin/both", "#!/bin/sh\njava -cp first First && java -cp second Second\n")
	if err := os.Chmod(script, 0o777); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := b.record(0, "--also", "first", "--also", "second", "--format", "table", "--", "./bin/both")
		b.want(r.stdout, ` First\.main$`, ` Second\.main$`)
		b.want(r.stderr, `^tracegen: recorded: both\.tgd, both\.tgd\.1, with the mapping both-mapping\.txt$`,
			`analyze both\.tgd both\.tgd\.1 --mapping`)
	}
}

// TestRecordJRE records with images that jlink made: one of the modules that are needed, and one without that of
// agents.
func TestRecordJRE(t *testing.T) {
	nightly.Only(t, "commands")
	b := newJavaBench(t)
	b.program()
	b.tool("jlink", "--add-modules", "java.base,java.instrument", "--output", b.path("jre"))
	b.tool("jlink", "--add-modules", "java.base", "--output", b.path("tiny"))
	java := filepath.Join("jre", "bin", "java")
	plain := b.run(nil, b.path(java), "-jar", "app.jar")
	r := b.record(0, "--format", "table", "--answer", "answer.txt", "--", b.path(java), "-jar", "app.jar")
	if r.stdout != plain.stdout {
		t.Errorf("the program prints\n%swithout tracegen\n%s", r.stdout, plain.stdout)
	}
	b.want(b.read("answer.txt"), ` util\.Util\.run$`)
	r = b.record(2, "--", b.path("tiny/bin/java"), "-jar", "app.jar")
	b.want(r.stderr, `has no module java\.instrument, which record needs: use another java, or add the module`)
}
