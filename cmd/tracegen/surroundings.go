package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/pipeline"
)

// surroundings are the flags that say where the type verifier looks for classes.
type surroundings struct {
	classPath []string // lists, as the system separates them
	jdk       string
	strict    bool
}

func (s *surroundings) add(f *pflag.FlagSet) {
	f.StringArrayVar(&s.classPath, "classpath", nil, "jars, .aar files and directories with classes that are referred to, or that rules on supertypes ask for: a `LIST`, as for java; repeatable")
	f.StringVar(&s.jdk, "jdk", "", "home `DIR` of the JDK to look for classes in (default that of JAVA_HOME, or of java on PATH)")
	f.BoolVar(&s.strict, "strict-classpath", false, "a class that cannot be found is a finding")
}

// files lists the class path.
func (s *surroundings) files() []string {
	var files []string
	for _, list := range s.classPath {
		for _, path := range filepath.SplitList(list) {
			if path != "" {
				files = append(files, path)
			}
		}
	}
	return files
}

// find settles where to look.
func (s *surroundings) find(con *console) pipeline.ClassPath {
	found := pipeline.ClassPath{Paths: s.files(), JDK: s.jdk, Strict: s.strict}
	if s.jdk == "" {
		found.JDK = installedJDK()
		con.detail("JDK to look for classes in: %s", cmp.Or(found.JDK, "none"))
	}
	return found
}

// installedJDK finds the home directory of the JDK, or JRE, that the user would run; "" if there is none.
func installedJDK() string {
	if home := os.Getenv("JAVA_HOME"); hasClasses(home) {
		return home
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return ""
	}
	// What is on PATH is often a link into the JDK.
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return ""
	}
	if home := filepath.Dir(filepath.Dir(java)); hasClasses(home) {
		return home
	}
	return ""
}

// hasClasses says whether a directory is a JDK or a JRE with the classes of its modules.
func hasClasses(home string) bool {
	if home == "" {
		return false
	}
	for _, name := range []string{"lib/modules", "lib/rt.jar", "jre/lib/rt.jar"} {
		if info, err := os.Stat(filepath.Join(home, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}
