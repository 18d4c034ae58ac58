package launch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/record/launch"
)

// environment has the variables of pairs NAME=VALUE and no others.
func environment(pairs ...string) func(name string) string {
	return func(name string) string {
		for _, p := range pairs {
			if key, value, _ := strings.Cut(p, "="); key == name {
				return value
			}
		}
		return ""
	}
}

// list returns a class path in the notation of the system.
func list(elements ...string) string { return strings.Join(elements, string(filepath.ListSeparator)) }

// TestParse takes commands apart.
func TestParse(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fixture.Write(t, filepath.Join(dir, "args"), "-cp 'a dir' # a comment\n\"-Dx=a\\\n   b\\tc\" app.Main from-file")
	fixture.Write(t, filepath.Join(dir, "jarargs"), "-jar app.jar")
	for _, c := range []struct {
		command  string // arguments, separated by blanks
		env      []string
		kind     launch.Kind
		program  string
		path     []string
		modules  []string
		property string
	}{
		{command: "java -jar app.jar -cp x", kind: launch.Jar, program: "app.jar", path: []string{"app.jar"}},
		{command: "java -jar -Dx=y app.jar", kind: launch.Jar, program: "app.jar", path: []string{"app.jar"}, property: "y"},
		{command: "java -cp ignored -jar app.jar", kind: launch.Jar, program: "app.jar", path: []string{"app.jar"}},
		{command: "/usr/bin/java -Xmx1g -cp " + list("a", "b") + " M -cp c", kind: launch.Class, program: "M",
			path: []string{"a", "b"}},
		{command: "java -classpath a -cp b M", kind: launch.Class, program: "M", path: []string{"b"}},
		{command: "java --class-path=a M", kind: launch.Class, program: "M", path: []string{"a"}},
		{command: "java M", kind: launch.Class, program: "M", path: []string{""}},
		{command: "java M", env: []string{"CLASSPATH=a"}, kind: launch.Class, program: "M", path: []string{"a"}},
		{command: "java -cp x M", env: []string{"CLASSPATH=a"}, kind: launch.Class, program: "M", path: []string{"x"}},
		{command: "java M", env: []string{"JDK_JAVA_OPTIONS=-cp 'a b' -Dx=1"}, kind: launch.Class, program: "M",
			path: []string{"a b"}, property: "1"},
		{command: "java -Dx=2 -cp b M", env: []string{"JDK_JAVA_OPTIONS=-cp a -Dx=1"}, kind: launch.Class, program: "M",
			path: []string{"b"}, property: "2"},
		{command: "java -p mods --add-modules a,b -m m/p.M -m x", kind: launch.Module, program: "m/p.M",
			modules: []string{"mods"}},
		{command: "java --module-path=mods --patch-module m=" + list("x", "y") + " --module=m", kind: launch.Module,
			program: "m", modules: []string{"mods", "x", "y"}},
		{command: "java @args -jar more", kind: launch.Class, program: "app.Main", path: []string{"a dir"},
			property: "ab\tc"},
		{command: "java @jarargs @missing", kind: launch.Jar, program: "app.jar", path: []string{"app.jar"}},
		{command: "java --add-exports java.base/x=ALL-UNNAMED --add-opens x -cp a M", kind: launch.Class, program: "M",
			path: []string{"a"}},
		{command: "java -cp a --disable-@files @M", kind: launch.Class, program: "@M", path: []string{"a"}},
		{command: "java -cp a @@M", kind: launch.Class, program: "@M", path: []string{"a"}},
	} {
		got, err := launch.Parse(strings.Split(c.command, " "), environment(c.env...))
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		if got.Kind != c.kind || got.Program != c.program || !slices.Equal(got.ClassPath, c.path) ||
			!slices.Equal(got.ModulePath, c.modules) || got.Properties["x"] != c.property {
			t.Errorf("%s: got %+v", c.command, got)
		}
		with, _ := got.With("-Xnew")
		if args := strings.Split(c.command, " "); !slices.Equal(with, slices.Concat(args[:1], []string{"-Xnew"}, args[1:])) {
			t.Errorf("%s: with an option it is %q", c.command, with)
		}
	}
}

// TestParseRefuses checks commands that run no program that could be instrumented.
func TestParseRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fixture.Write(t, filepath.Join(dir, "X.java"), "class X { }")
	fixture.Write(t, filepath.Join(dir, "open"), "'no end")
	for command, want := range map[string]string{
		"java":                   "names no program",
		"java -jar":              "no jar file given",
		"java -cp":               "no value given",
		"java -version":          "java -version runs no program",
		"java --dry-run M":       "java --dry-run runs no program",
		"java X.java":            "javac -d DIR X.java",
		"java --source 17 X":     "compiles the program when it starts",
		"java @nowhere":          "argument file of java: open",
		"java @open":             "a quotation mark is not closed",
		"java -cp x -d m":        "java -d runs no program",
		"gradle run":             "gradle is not the java program",
		"java -m":                "no value given",
		"java -m ":               "names no program",
		"java --module=":         "names no program",
		"java ":                  "names no program",
		"java -jar ":             "names no program",
		"java --list-modules -m": "runs no program",
	} {
		_, err := launch.Parse(strings.Split(command, " "), environment())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
	if _, err := launch.Parse([]string{"mvn"}, environment()); !errors.Is(err, launch.ErrNotJava) {
		t.Error(err)
	}
	if _, err := launch.Parse(nil, environment()); err == nil {
		t.Error("no command at all is no error")
	}
}

// TestParseAsJava runs commands with the program itself, which prints what it made of them.
func TestParseAsJava(t *testing.T) {
	jdk := oracle.NeedJDK(t, 11)
	dir := t.TempDir()
	t.Chdir(dir)
	fixture.Write(t, filepath.Join(dir, "src", "M.java"), `public class M { public static void main(String[] a) {
		System.out.println(System.getProperty("java.class.path") + "|" + System.getProperty("x") + "|" +
			String.join(",", a)); } }`)
	if out, err := exec.Command(jdk.Tool("javac"), "-d", filepath.Join(dir, "a b"), filepath.Join(dir, "src", "M.java")).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fixture.Write(t, filepath.Join(dir, "f1"), "-cp 'a b' \"-Dx=1 \\\"2\\\" \\\n    3\" M '' # comment\n @f2 'x#y' #z")
	fixture.Write(t, filepath.Join(dir, "f2"), "-Dx=f2#3\n-cp\n\"a b\"\n")
	fixture.Write(t, filepath.Join(dir, "f3"), "-Dx=\"in quotes\"ab'c d' -cp 'a\\u0020b'")
	for _, c := range []struct{ env, args []string }{
		{nil, []string{"@f1", "more"}},
		{nil, []string{"@f2", "M", "@f1"}},
		{nil, []string{"@f3", "-cp", "a b", "M"}},
		{[]string{"JDK_JAVA_OPTIONS=-cp \"a b\" '-Dx=a \"b'"}, []string{"M", "-cp"}},
		{[]string{"CLASSPATH=a b"}, []string{"-Dx=", "M"}},
		{nil, []string{"-Dx=a=b", "-classpath", "c", "--class-path", "a b", "M"}},
		{nil, []string{"--add-modules", "java.base", "--class-path=a b", "-Dx", "--add-opens",
			"java.base/java.lang=ALL-UNNAMED", "M", "-Dx=3"}},
	} {
		cmd := exec.Command(jdk.Tool("java"), c.args...)
		cmd.Dir, cmd.Env = dir, append(slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "CLASSPATH=") || strings.Contains(v, "JAVA_OPTIONS=")
		}), c.env...)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("java %q: %v", c.args, err)
			continue
		}
		want := strings.Split(strings.TrimRight(string(out), "\r\n"), "|")
		got, err := launch.Parse(append([]string{"java"}, c.args...), environment(c.env...))
		if err != nil {
			t.Errorf("java %q: %v", c.args, err)
			continue
		}
		x, given := got.Properties["x"]
		if !given {
			x = "null"
		}
		if got.Program != "M" || list(got.ClassPath...) != want[0] || x != want[1] {
			t.Errorf("java %q: class path %q, property %q; java says %q", c.args, got.ClassPath, x, want)
		}
	}
}

// archive writes an archive with a manifest.
func archive(t *testing.T, path, manifest string) {
	t.Helper()
	fixture.Write(t, path, fixture.Zip(t, "META-INF/MANIFEST.MF", manifest))
}

// TestContainers follows wildcards and manifests.
func TestContainers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	archive(t, at("app.jar"), "Manifest-Version: 1.0\r\nClass-Path: lib/a.jar lib/mis\r\n sing.jar classes/ "+
		"lib/sp%20ace.jar http://x/y.jar ../"+filepath.Base(dir)+"/up.jar\r\n\r\nName: x\r\nClass-Path: never.jar\r\n")
	archive(t, at("lib/a.jar"), "Class-Path: b.jar a.jar ../app.jar\n")
	for _, name := range []string{"lib/b.jar", "lib/C.JAR", "lib/sp ace.jar", "up.jar", "never.jar"} {
		archive(t, at(name), "")
	}
	fixture.Write(t, at("lib/notes.txt"), "")
	fixture.Write(t, at("classes/x"), "")
	fixture.Write(t, at("mods/m/module-info.class"), "")
	archive(t, at("mods/n.jar"), "")
	fixture.Write(t, at("broken.jar"), "no archive")
	for _, c := range []struct{ command, found, missing string }{
		{"java -jar app.jar", "app.jar lib/a.jar lib/b.jar classes lib/sp_ace.jar up.jar", ""},
		{"java -cp " + list("lib/*", "app.jar", "gone") + " M",
			"lib/C.JAR lib/a.jar lib/b.jar app.jar classes lib/sp_ace.jar up.jar", "gone"},
		{"java -cp " + list("classes", "", "lib/*.jar") + " M", "classes .", "lib/*.jar"},
		{"java -p " + list("mods", "lib/b.jar", "gone") + " -m m", "mods/n.jar mods/m lib/b.jar", "gone"},
		{"java -cp broken.jar M", "broken.jar", ""},
		{"java -cp none/* M", "", ""},
	} {
		command, err := launch.Parse(strings.Split(c.command, " "), environment())
		if err != nil {
			t.Fatal(err)
		}
		found, missing := command.Containers()
		var names []string
		for _, f := range found {
			absolute, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(dir, absolute)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.ReplaceAll(filepath.ToSlash(name), " ", "_"))
		}
		if !sameNames(names, strings.Fields(c.found)) || strings.Join(missing, " ") != c.missing {
			t.Errorf("%s: found %q, missing %q", c.command, names, missing)
		}
	}
}

// sameNames compares lists of names; the order of those that a wildcard stands for is that of the system.
func sameNames(a, b []string) bool {
	if runtime.GOOS == "linux" {
		return slices.Equal(a, b)
	}
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestNames checks the names of files about programs.
func TestNames(t *testing.T) {
	for command, want := range map[string]string{
		"java -jar dir/my-app.1.2.jar": "my-app.1.2",
		"java com.example.Main":        "Main",
		"java -m a.b/c.D":              "a.b",
		"java -jar ..jar":              "program",
		"java -jar spä+ce.jar":         "sp__ce",
	} {
		c, err := launch.Parse(strings.Split(command, " "), environment())
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Name(); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// TestWithToolOptions adds options to a variable that may be set.
func TestWithToolOptions(t *testing.T) {
	got := launch.WithToolOptions([]string{"A=1", "JAVA_TOOL_OPTIONS=-Xmx1g"}, []string{"-Da=b", "-Dc=d e"})
	if want := []string{"A=1", `JAVA_TOOL_OPTIONS=-Xmx1g -Da=b "-Dc=d e"`}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// FuzzParse parses any command. It must not fail by a panic, and the options must come behind the program's name.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"java\n-jar\napp.jar", "java\n-cp\na:b\n-Dx=y\nM\n-z", "java\n@f\n--module\nm",
		"java\n-m", "java\n--module\n", "java\n--class-path=\n--x", "javaw.exe\n@@a"} {
		f.Add(seed, "-cp 'a b' \"c\\\nd\" # e", "-Dx='y z'")
	}
	f.Fuzz(func(t *testing.T, command, file, variable string) {
		dir := t.TempDir()
		t.Chdir(dir)
		fixture.Write(t, filepath.Join(dir, "f"), file)
		args := strings.Split(command, "\n")
		args = slices.DeleteFunc(args, func(a string) bool { return strings.ContainsAny(a, "/\\\x00") })
		c, err := launch.Parse(args, environment("JDK_JAVA_OPTIONS="+variable))
		if err != nil {
			return
		}
		if c.Kind == 0 || c.Program == "" && c.Kind == launch.Module || c.Name() == "" {
			t.Errorf("%q: %+v", args, c)
		}
		if with, _ := c.With("-x"); len(with) != len(args)+1 || with[1] != "-x" {
			t.Errorf("%q: with an option it is %q", args, with)
		}
		c.Containers()
	})
}
