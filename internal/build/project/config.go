package project

import (
	"fmt"
	"slices"
	"strings"
)

// Title says what the project is, for a message.
func (p *Project) Title() string {
	switch p.Kind {
	case Android:
		return "an Android app, built by Gradle (" + p.File + ")"
	case Gradle:
		return "a JVM program, built by Gradle (" + p.File + ")"
	case Maven:
		return "a JVM program, built by Maven (" + p.File + ")"
	case Bazel:
		return "a project that Bazel builds (" + p.File + ")"
	case Archives:
		return "archives (" + p.File + ")"
	}
	return "no build file and no archive"
}

// Next returns what to type next, with a sentence that says what it does.
func (p *Project) Next() (sentence, command string) {
	archive := "app.jar"
	if len(p.Archives) > 0 {
		archive = p.Archives[0]
	}
	switch {
	case p.Kind == Android:
		return "Apply the Gradle plugin dev.tracegen in the app's module, see docs/app.md, and build a release:",
			"./gradlew assembleRelease"
	case p.Kind == Bazel:
		return "Build the program with all that it needs (the target with _deploy.jar at its end), and record a run:",
			"tracegen record -- java -jar bazel-bin/" + archive
	case len(p.Archives) > 0:
		return "This records a run of the program and shows what was slow:", "tracegen record -- java -jar " + archive
	case p.Kind == Gradle:
		return "Build the program, and record a run of it:", "tracegen record -- java -jar build/libs/" + archive
	case p.Kind == Maven:
		return "Build the program, and record a run of it:", "tracegen record -- java -jar target/" + archive
	}
	return "This records a run of a program and shows what was slow:", "tracegen record -- java -jar " + archive
}

// Config returns the text of tracegen.yml. Each line is empty, prose (it begins with # and a blank), an option, or an
// option that is commented out: it begins with # and no blank.
func (p *Project) Config() string {
	var b strings.Builder
	prose := func(format string, args ...any) { fmt.Fprintf(&b, "# "+format+"\n", args...) }
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	prose("What tracegen traces, and how. Written by tracegen init; found: %s.", p.Title())
	prose("Options that are commented out have their default or an example as value: remove the # at the start of the")
	prose("line. All of them are in the help (tracegen help instrument); rules are explained in docs/rules.md.")
	line("")
	p.exits(prose, line)
	line("")
	prose("Which methods are too small to be traced: smart, matrix (as Matrix decides), or none.")
	line("#trivial: smart")
	line("")
	p.fromOthers(prose, line)
	prose("Rules. The last rule that matches a method decides; a method that no rule matches is traced.")
	line("#rules:")
	prose("A package with all below it, and one class of it that is traced all the same:")
	line("#  - block: com.example.generated.**")
	line("#  - allow: com.example.generated.Important")
	prose("Methods by name, and by what a compiler plugin wrote about them:")
	line("#  - block: com.example.Feed#get*(**)")
	line("#  - block: { annotation: \"**.Generated\" }")
	if p.Kind != Android {
		prose("The method that handles a request: each of its calls is a message, and may be a stall:")
		line("#  - message: com.example.Server#handle")
	}
	line("")
	p.guards(prose, line)
	return b.String()
}

func (p *Project) exits(prose, line func(string, ...any)) {
	prose("Which exits of methods are reported: before each return (normal), also before a throw (throws), or on every")
	prose("path, also when a called method throws (exact).")
	if p.Kind == Android {
		line("#exits: throws")
		return
	}
	prose("Programs on a JVM often use exceptions in their usual course, so that exact is worth its cost.")
	line("exits: exact")
	line("")
	prose("Leave out methods that would grow past the size that HotSpot compiles.")
	line("target: jvm")
}

// fromOthers writes what the settings of other plugins stand for.
func (p *Project) fromOthers(prose, line func(string, ...any)) {
	for _, file := range p.BlockLists {
		prose("The block list of Matrix's plugin. Its format is supported.")
		line("blocklist: [ %s ]", quoted(file))
		line("")
		break // the others are in the same list
	}
	if slices.Contains(p.Other, "btrace") {
		prose("The filter file of btrace is not read: docs/rules.md lists what replaces each of its lines.")
		line("")
	}
	for _, file := range p.Bases {
		prose("The mapping of the last release: its methods keep their IDs. This is that of %s.",
			strings.Join(p.Other, " and "))
		line("#base: %s", quoted(file))
		line("")
		return
	}
	if p.Kind == Android {
		prose("The mapping of the last release: its methods keep their IDs.")
		line("#base: release/methodMapping.txt")
		line("")
	}
}

func (p *Project) guards(prose, line func(string, ...any)) {
	prose("Guards for CI: the exit code is 1 if the classes grow by more percent, or if fewer methods are traced than")
	prose("this share of those in the base mapping, which must be given then.")
	if p.Kind == Android || len(p.Bases) > 0 {
		line("#guards: { growth: 25, ratio: 0.9 }")
	} else {
		line("#guards: { growth: 25 }")
	}
}

// quoted returns a path as a value of YAML.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
