package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tracegen/tracegen/internal/pipeline"
)

// classPath are the flags that say where the type verifier looks for classes.
type classPath struct {
	lists  []string // of paths, as the system separates them
	jdk    string
	strict bool
}

func (c *classPath) options() []option {
	return []option{
		{name: "classpath", flag: texts(&c.lists), commands: everyBuild | byVerify, omit: inNoRecord, withIDs: idsAllow,
			file: fileSearched, list: true,
			help: "jars, .aar files and directories with classes that are referred to, or that rules on supertypes ask for: " +
				"a `LIST`, as for java; repeatable",
			helpIn: map[command]string{
				byAssign: "where rules look for supertypes that no part has: the `LIST` that instrument would be given; repeatable",
			}},
		{name: "jdk", flag: text(&c.jdk, ""), commands: classWork | byVerify, omit: inNoRecord, withIDs: idsAllow,
			file: fileSearched, extensions: onlyDirectories,
			help: "home `DIR` of the JDK to look for classes in (default that of JAVA_HOME, or of java on PATH)"},
		{name: "strict-classpath", flag: yes(&c.strict), commands: classWork | byVerify, omit: inScanKey, withIDs: idsAllow,
			help: "a class that cannot be found is a finding"},
	}
}

// files lists the class path.
func (c *classPath) files() []string {
	var files []string
	for _, list := range c.lists {
		for _, path := range filepath.SplitList(list) {
			if path != "" {
				files = append(files, path)
			}
		}
	}
	return files
}

// find finds out where to look.
func (c *classPath) find(con *console) pipeline.ClassPath {
	found := pipeline.ClassPath{Paths: c.files(), JDK: c.jdk, Strict: c.strict}
	if c.jdk == "" {
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
