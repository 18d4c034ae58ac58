// Package builds runs real build systems in tests: Gradle here, and others in the packages below it.
//
// # Gradle
//
// No distribution of Gradle is downloaded. Its classes are in the Maven artifact dev.gradleplugins:gradle-api, with
// relocated third-party classes, for authors of plugins. A Gradle home needs, for each module of Gradle, a jar with a
// list of what is on the module's class path. [GradleHome] makes the API jar that of the core, empty jars for all
// others, and fetches what the API jar does not have: Groovy, Kotlin and Ant.
//
// What cannot be done with such a home: build files in Kotlin, tests in JUnit 4 by Gradle's own task, and with versions
// after 8.8 the daemon and TestKit, because their API jars have no command line: a small program starts one build in
// one process.
//
// # How much is run
//
// One build is in `make test`, some are in shares of `make nightly`, and all in `make builds`. See CONTRIBUTING.md.
package builds

import (
	"archive/zip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

//go:embed home.go
var homeSource []byte

//go:embed GradleBoot.java
var bootSource []byte

// Home is a Gradle home on this machine.
type Home struct {
	// Version is that of Gradle.
	Version string
	// Dir has lib and bin.
	Dir string
	// boot is the directory of the program that starts a build, for versions without a command line.
	boot string
}

// GradleHome returns a Gradle home of a version. It makes it with Maven and a JDK, unless the cache has it. The test
// cannot go on without it.
func GradleHome(t testing.TB, version string) Home {
	t.Helper()
	cache, err := oracle.CacheDir("gradle")
	oracle.Require(t, err)
	sum := sha256.Sum256(append(append([]byte(version), homeSource...), bootSource...))
	final := filepath.Join(cache, "home-"+version+"-"+hex.EncodeToString(sum[:6]))
	h := Home{Version: version, Dir: final}
	if needsBoot(version) {
		h.boot = filepath.Join(final, "boot")
	}
	if _, err := os.Stat(final); err == nil {
		return h
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	oracle.Require(t, err)
	defer os.RemoveAll(tmp)
	assemble(t, version, filepath.Join(cache, "artifacts"), tmp)
	oracle.Require(t, oracle.Publish(tmp, final))
	return h
}

// needsBoot reports whether the API jar of a version has no command line.
func needsBoot(version string) bool {
	return !strings.HasPrefix(version, "7.") && !slices.Contains([]string{"8.0", "8.1", "8.2", "8.3", "8.4", "8.5",
		"8.6", "8.7", "8.8"}, strings.Join(strings.SplitN(version, ".", 3)[:2], "."))
}

// A home is under construction: its API jar, open, and where it is written.
type building struct {
	t                       testing.TB
	version, artifacts, lib string
	api                     *zip.ReadCloser
	apiPath                 string
	entries                 map[string]*zip.File
	names                   []string // in the order of the jar
	pom                     string
	modules                 map[string]string // the lists of class paths, by module
	runtime                 map[string]bool   // names of the jars that modules want
}

func assemble(t testing.TB, version, artifacts, home string) {
	t.Helper()
	b := &building{t: t, version: version, artifacts: artifacts, lib: filepath.Join(home, "lib"),
		entries: map[string]*zip.File{}, modules: map[string]string{}, runtime: map[string]bool{}}
	for _, dir := range []string{artifacts, filepath.Join(b.lib, "plugins"), filepath.Join(home, "bin")} {
		fixture.Directory(t, dir)
	}
	jar := oracle.Artifact{Group: "dev.gradleplugins", Name: "gradle-api", Version: version, Type: "jar"}
	pom := jar
	pom.Type = "pom"
	oracle.Require(t, oracle.FetchMaven(t.Context(), artifacts, []oracle.Artifact{jar, pom}))
	b.pom, b.apiPath = fixture.Text(t, filepath.Join(artifacts, pom.File())), filepath.Join(artifacts, jar.File())
	var err error
	b.api, err = zip.OpenReader(b.apiPath)
	oracle.Require(t, err)
	defer b.api.Close()
	for _, f := range b.api.File {
		b.entries[f.Name] = f
		b.names = append(b.names, f.Name)
	}
	for _, name := range b.readModules() {
		b.writeModule(name)
	}
	fetched := b.libraries()
	b.writeCore(fetched)
	b.writeEmpty(fetched)
	if needsBoot(version) {
		b.compileBoot(filepath.Join(home, "boot"))
	}
}

// read returns the content of an entry of the API jar.
func (b *building) read(name string) string {
	b.t.Helper()
	data, err := fs.ReadFile(b.api, name)
	oracle.Require(b.t, err)
	return string(data)
}

// properties reads the simple form of Java's properties that Gradle's lists have.
func properties(data string) map[string]string {
	p := map[string]string{}
	for line := range strings.Lines(data) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok && !strings.HasPrefix(key, "#") {
			p[key] = value
		}
	}
	return p
}

func list(value string) []string {
	return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" })
}

var classpathList = regexp.MustCompile(`^([\w.-]+)-classpath\.properties$`)

// readModules returns the names of all modules but the core, sorted.
func (b *building) readModules() []string {
	all := map[string]bool{}
	for _, name := range b.names {
		m := classpathList.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		b.modules[m[1]] = b.read(name)
		p := properties(b.modules[m[1]])
		all[m[1]] = true
		for _, jar := range list(p["runtime"]) {
			b.runtime[jar] = true
		}
		for _, other := range append(list(p["projects"]), list(p["optional"])...) {
			all[other] = true
		}
	}
	for _, name := range []string{"gradle-plugins.properties", "gradle-implementation-plugins.properties"} {
		if b.entries[name] == nil {
			continue
		}
		for _, other := range list(properties(b.read(name))["plugins"]) {
			all[other] = true
		}
	}
	// These are looked up by name.
	for _, name := range []string{"launcher", "runtime-api-info", "instrumentation-declarations",
		"instrumentation-agent", "java-compiler-plugin", "daemon-main", "daemon-server", "gradle-cli",
		"installation-beacon", "tooling-api-provider", "test-kit", "worker-processes", "base-annotations"} {
		all["gradle-"+name] = true
	}
	for _, name := range []string{"gradle-core", "gradle-kotlin-dsl", "gradle-kotlin-dsl-provider-plugins",
		"gradle-kotlin-dsl-tooling-builders"} {
		delete(all, name)
	}
	return slices.Sorted(maps.Keys(all))
}

// moved are the modules whose classes other processes load from the module's own jar.
var moved = map[string]string{
	"gradle-java-compiler-plugin": "org/gradle/internal/compiler/java/",
	"gradle-installation-beacon":  "org/gradle/internal/installation/beacon/",
}

// writeModule writes the jar of a module: its list, and what is read from this jar and no other.
func (b *building) writeModule(name string) {
	content := map[string]string{}
	switch name {
	case "gradle-launcher", "gradle-gradle-cli":
		content[manifest] = "Manifest-Version: 1.0\nMain-Class: org.gradle.launcher.GradleMain\n" +
			"Class-Path: gradle-core-" + b.version + ".jar\n"
	}
	switch data, ok := b.modules[name]; {
	case ok:
		content[name+"-classpath.properties"] = data
	case slices.Contains([]string{"gradle-gradle-cli", "gradle-daemon-main", "gradle-daemon-server",
		"gradle-tooling-api-provider"}, name):
		content[name+"-classpath.properties"] = "projects=gradle-launcher,gradle-core\nruntime=\n"
	default:
		content[name+"-classpath.properties"] = "projects=\nruntime=\n"
	}
	const versions = "gradle-kotlin-dsl-versions.properties"
	if name == "gradle-launcher" && b.entries[versions] == nil {
		content[versions] = "provider=none\nkotlin=" + b.dependency("kotlin-stdlib") + "\n"
	}
	b.addMoved(name, content)
	if name == "gradle-runtime-api-info" {
		for _, entry := range []string{"api-mapping.txt", "default-imports.txt", "gradle-plugins.properties",
			"gradle-implementation-plugins.properties"} {
			if b.entries[entry] != nil {
				content[entry] = b.read(entry)
			}
		}
	}
	b.writeZip(name+"-"+b.version+".jar", content)
}

func (b *building) addMoved(name string, content map[string]string) {
	prefix, ok := moved[name]
	if !ok {
		return
	}
	isMoved := func(entry string) bool { return strings.HasPrefix(entry, prefix) && !strings.HasSuffix(entry, "/") }
	found := false
	for _, entry := range b.names {
		if isMoved(entry) {
			content[entry], found = b.read(entry), true
		}
	}
	if found || name != "gradle-java-compiler-plugin" {
		return
	}
	// Later API jars lack it, and that of an older version does.
	old := oracle.Artifact{Group: "dev.gradleplugins", Name: "gradle-api", Version: "7.6.4", Type: "jar"}
	oracle.Require(b.t, oracle.FetchMaven(b.t.Context(), b.artifacts, []oracle.Artifact{old}))
	oracle.Require(b.t, oracle.EachEntry(filepath.Join(b.artifacts, old.File()), isMoved,
		func(entry string, data []byte) error {
			content[entry] = string(data)
			return nil
		}))
}

// dependency returns the version of an artifact that the API's POM depends on, or "".
func (b *building) dependency(artifact string) string {
	m := regexp.MustCompile(`<artifactId>` + regexp.QuoteMeta(artifact) + `</artifactId>\s*<version>([^<]+)<`).
		FindStringSubmatch(b.pom)
	if m == nil {
		return ""
	}
	return m[1]
}

// wanted returns the version of a jar that modules want, or the other.
func (b *building) wanted(artifact, otherwise string) string {
	name := regexp.MustCompile(`^` + regexp.QuoteMeta(artifact) + `-(\d.*)\.jar$`)
	for _, jar := range slices.Sorted(maps.Keys(b.runtime)) {
		if m := name.FindStringSubmatch(jar); m != nil {
			return m[1]
		}
	}
	return otherwise
}

// libraries copies what the API jar does not have into lib, and returns the names.
func (b *building) libraries() map[string]bool {
	groovy, kotlin := b.dependency("groovy"), b.dependency("kotlin-stdlib")
	if groovy == "" {
		groovy = b.dependency("groovy-all")
	}
	group := "org.codehaus.groovy"
	if strings.HasPrefix(groovy, "4") {
		group = "org.apache.groovy"
	}
	var wanted []oracle.Artifact
	add := func(group, name, version string) {
		wanted = append(wanted, oracle.Artifact{Group: group, Name: name, Version: version, Type: "jar"})
	}
	for _, part := range []string{"", "-ant", "-astbuilder", "-console", "-datetime", "-dateutil", "-groovydoc", "-json",
		"-nio", "-sql", "-templates", "-test", "-xml", "-swing", "-docgenerator"} {
		add(group, "groovy"+part, groovy)
	}
	ant := b.wanted("ant", "1.10.13")
	for _, name := range []string{"ant", "ant-launcher", "ant-junit", "ant-antlr"} {
		add("org.apache.ant", name, ant)
	}
	add("javax.inject", "javax.inject", "1")
	add("com.github.javaparser", "javaparser-core", b.wanted("javaparser-core", "3.17.0"))
	if kotlin != "" {
		add("org.jetbrains.kotlin", "kotlin-stdlib", kotlin)
		add("org.jetbrains.kotlin", "kotlin-reflect", kotlin)
		for _, name := range []string{"kotlin-stdlib-jdk7", "kotlin-stdlib-jdk8"} {
			if b.runtime[name+"-"+kotlin+".jar"] {
				add("org.jetbrains.kotlin", name, kotlin)
			}
		}
	}
	oracle.Require(b.t, oracle.FetchMaven(b.t.Context(), b.artifacts, wanted))
	fetched := map[string]bool{}
	for _, a := range wanted {
		name := a.Name + "-" + a.Version + ".jar"
		fixture.Write(b.t, filepath.Join(b.lib, name), fixture.Read(b.t, filepath.Join(b.artifacts, a.File())))
		fetched[name] = true
	}
	return fetched
}

// services are read by the JVM itself, since the API jar is on the system class path here.
var services = []string{"java.nio.file.spi.FileSystemProvider", "java.sql.Driver", "java.security.Provider",
	"javax.script.ScriptEngineFactory"}

// writeCore writes the API jar as that of the core.
func (b *building) writeCore(fetched map[string]bool) {
	out, err := os.Create(filepath.Join(b.lib, "gradle-core-"+b.version+".jar"))
	oracle.Require(b.t, err)
	defer out.Close()
	w := zip.NewWriter(out)
	const coreList = "gradle-core-classpath.properties"
	for _, f := range b.api.File {
		if service, ok := strings.CutPrefix(f.Name, "META-INF/services/"); ok && slices.Contains(services, service) {
			continue
		}
		var data []byte
		switch {
		case f.Name == coreList:
			// One loader for all of Kotlin, or its reflection does not find the library.
			p := properties(b.modules["gradle-core"])
			runtime := list(p["runtime"])
			for _, name := range slices.Sorted(maps.Keys(fetched)) {
				if strings.HasPrefix(name, "kotlin-") && !slices.Contains(runtime, name) {
					runtime = append(runtime, name)
				}
			}
			p["runtime"] = strings.Join(runtime, ",")
			for _, key := range slices.Sorted(maps.Keys(p)) {
				data = append(data, key+"="+p[key]+"\n"...)
			}
		case strings.HasPrefix(f.Name, "org/gradle/") && strings.HasSuffix(f.Name, ".class") &&
			!strings.Contains(f.Name, "/impldep/"):
			if class := b.read(f.Name); strings.Contains(class, "$deserializeLambda$") {
				data = b.relocateStrings([]byte(class))
			}
		}
		switch {
		case data != nil:
			to, err := w.Create(f.Name)
			oracle.Require(b.t, err)
			_, err = to.Write(data)
			oracle.Require(b.t, err)
		case strings.HasSuffix(f.Name, "/"):
			// Java writes a compressed nothing for a directory, which this library refuses.
			_, err := w.Create(f.Name)
			oracle.Require(b.t, err)
		default:
			oracle.Require(b.t, w.Copy(f))
		}
	}
	oracle.Require(b.t, errors.Join(w.Close(), out.Close()))
}

var className = regexp.MustCompile(`^(?:[a-z]\w*/)+[A-Z][\w$]*`)

// relocateStrings returns a class, or nil if it need not change. The relocation that made the API jar did not reach the
// strings by which $deserializeLambda$ finds a lambda, so lambdas that the configuration cache has stored could not be
// read back.
func (b *building) relocateStrings(class []byte) []byte {
	u2 := func(at int) int { return int(class[at])<<8 | int(class[at+1]) }
	type utf8 struct{ at, length int }
	texts, used := map[int]utf8{}, map[int]bool{}
	at, n := 10, u2(8)
	for i := 1; i < n; i++ {
		switch class[at] {
		case 1:
			texts[i] = utf8{at, u2(at + 1)}
			at += 3 + u2(at+1)
		case 3, 4, 9, 10, 11, 12, 17, 18:
			at += 5
		case 5, 6:
			at += 9
			i++
		case 15:
			at += 4
		case 8:
			used[u2(at+1)] = true
			at += 3
		default:
			at += 3
		}
	}
	var out []byte
	copied := 0
	for _, i := range slices.SortedFunc(maps.Keys(used), func(x, y int) int { return texts[x].at - texts[y].at }) {
		t := texts[i]
		was := string(class[t.at+3 : t.at+3+t.length])
		is := b.relocate(was)
		if is == was {
			continue
		}
		out = append(out, class[copied:t.at+1]...)
		out = append(out, byte(len(is)>>8), byte(len(is)))
		out = append(out, is...)
		copied = t.at + 3 + t.length
	}
	if out == nil {
		return nil
	}
	return append(out, class[copied:]...)
}

// relocate puts the prefix of relocated classes before the names of classes that are there only with it.
func (b *building) relocate(text string) string {
	const prefix = "org/gradle/internal/impldep/"
	word := func(c byte) bool {
		return c == '_' || c == '/' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		var name string
		if i == 0 || text[i-1] == 'L' || !word(text[i-1]) {
			name = className.FindString(text[i:])
		}
		if name == "" {
			out.WriteByte(text[i])
			i++
			continue
		}
		if b.entries[prefix+name+".class"] != nil {
			out.WriteString(prefix)
		}
		out.WriteString(name)
		i += len(name)
	}
	return out.String()
}

// manifest is the name of the manifest of a jar.
const manifest = "META-INF/MANIFEST.MF"

// writeEmpty writes empty jars for all that modules want and that is in the API jar.
func (b *building) writeEmpty(fetched map[string]bool) {
	empty := map[string]string{manifest: "Manifest-Version: 1.0\n"}
	for jar := range b.runtime {
		if !fetched[jar] {
			b.writeZip(jar, empty)
		}
	}
	for _, name := range []string{"asm", "slf4j-api", "jul-to-slf4j", "native-platform", "kryo", "commons-lang",
		"guava"} {
		if b.wanted(name, "") == "" {
			b.writeZip(name+"-0.jar", empty)
		}
	}
}

// writeZip writes a jar into lib. The manifest is first, where Java's streams look for it.
func (b *building) writeZip(name string, content map[string]string) {
	var entries []fixture.Entry
	for _, entry := range slices.Sorted(maps.Keys(content)) {
		if e := (fixture.Entry{Name: entry, Data: content[entry]}); entry == manifest {
			entries = slices.Insert(entries, 0, e)
		} else {
			entries = append(entries, e)
		}
	}
	fixture.Write(b.t, filepath.Join(b.lib, name), fixture.Pack(b.t, entries...))
}
