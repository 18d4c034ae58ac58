package oracle

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// proGuardModules are the artifacts that ProGuard and its retrace need. Of the latter, Maven has only this release.
var proGuardModules = []string{
	"com.guardsquare:proguard-base:7.7.0", "com.guardsquare:proguard-core:9.1.10",
	"com.guardsquare:proguard-retrace:7.1.0-beta5",
	"org.jetbrains.kotlin:kotlin-metadata-jvm:2.1.0", "org.jetbrains.kotlin:kotlin-stdlib:2.1.0",
	"org.apache.logging.log4j:log4j-api:2.24.2", "org.apache.logging.log4j:log4j-core:2.24.2",
	"com.google.code.gson:gson:2.11.0", "org.json:json:20231013",
}

// ProGuard runs ProGuard and its retrace.
type ProGuard struct {
	jdk  JDK
	path string
}

// FindProGuard returns ProGuard, to be run on the JDK j, and fetches it if the cache lacks it.
func FindProGuard(t testing.TB, j JDK) ProGuard {
	t.Helper()
	dir, err := CacheDir("maven")
	Require(t, err)
	var artifacts []Artifact
	var jars []string
	for _, module := range proGuardModules {
		a, err := ParseArtifact(module)
		Require(t, err)
		artifacts = append(artifacts, a)
		jars = append(jars, filepath.Join(dir, a.File()))
	}
	Require(t, FetchMaven(t.Context(), dir, artifacts))
	return ProGuard{j, classPath(jars...)}
}

// Obfuscate renames everything in a jar, and lets ProGuard inline and merge; unused code is not removed. It writes the
// jar out and the mapping. Line numbers are kept, source file names are not.
func (p ProGuard) Obfuscate(ctx context.Context, jar, out, mapping string) error {
	return p.jdk.java(ctx, "-cp", p.path, "proguard.ProGuard",
		"-injars", jar, "-outjars", out, "-printmapping", mapping,
		"-libraryjars", "<java.home>/jmods/java.base.jmod(!**.jar;!module-info.class)",
		"-keep,allowobfuscation,allowoptimization", "class ** { *; }",
		"-keepattributes", "SourceFile,LineNumberTable,Exceptions,InnerClasses",
		"-renamesourcefileattribute", "SourceFile", "-repackageclasses", "o",
		"-dontwarn", "-dontnote", "-ignorewarnings", "-allowaccessmodification")
}

// Rename renames classes and members of a jar and changes nothing else. It writes the jar out and the mapping. rules
// are further options of ProGuard: what to keep, and how to name.
func (p ProGuard) Rename(ctx context.Context, jar, out, mapping string, rules ...string) error {
	return p.jdk.java(ctx, append([]string{"-cp", p.path, "proguard.ProGuard",
		"-injars", jar, "-outjars", out, "-printmapping", mapping,
		"-libraryjars", "<java.home>/jmods/java.base.jmod(!**.jar;!module-info.class)",
		"-dontshrink", "-dontoptimize", "-dontnote", "-dontwarn", "-ignorewarnings", "-keepattributes", "*"}, rules...)...)
}

// Shrink shrinks, optimizes and renames jars as a build does: with files of rules, and the classes of the JDK alone. It
// fails where ProGuard does, also because of classes that are missing. It writes the jar out and the mapping.
func (p ProGuard) Shrink(ctx context.Context, out, mapping string, rules []string, jars ...string) error {
	args := []string{"-cp", p.path, "proguard.ProGuard"}
	for _, module := range []string{"java.base", "java.instrument", "java.management"} {
		args = append(args, "-libraryjars", "<java.home>/jmods/"+module+".jmod(!**.jar;!module-info.class)")
	}
	for _, jar := range jars {
		args = append(args, "-injars", jar+"(!META-INF/MANIFEST.MF,!module-info.class)")
	}
	args = append(args, "-outjars", out, "-printmapping", mapping)
	for _, file := range rules {
		args = append(args, "-include", file)
	}
	return p.jdk.java(ctx, args...)
}

// Retrace returns a text after ProGuard's retrace.
func (p ProGuard) Retrace(ctx context.Context, mapping, text string) (string, error) {
	cmd := exec.CommandContext(ctx, p.jdk.Tool("java"), "-Dfile.encoding=UTF-8", "-cp", p.path,
		"proguard.retrace.ReTrace", mapping)
	cmd.Stdin = strings.NewReader(text)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("retrace: %w: %s", err, errs.String())
	}
	return out.String(), nil
}

// Provoke calls the methods of a jar with bad arguments, and writes the stack traces of the exceptions to the file out.
func Provoke(t testing.TB, j JDK, jar, out string) {
	t.Helper()
	classes := tool{name: "provoke", release: 8}.need(t, j)
	Require(t, j.java(t.Context(), "-cp", classPath(classes, jar), "dev.tracegen.provoke.Provoke", jar, out))
}
