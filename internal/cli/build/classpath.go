package build

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/record/launch"
)

// classPath holds the options of where classes are looked up.
type classPath struct {
	lists  []string // of paths and patterns, separated as the system does it
	files  []string // that lists stand for, see resolve
	jdk    string
	strict bool
}

// options returns the rows. keys is set for commands that read tracegen.yml.
func (c *classPath) options(keys bool) []cli.Option {
	return []cli.Option{
		{Name: "classpath", Flag: cli.Texts(&c.lists), Commands: everyBuild | byVerify, Omit: cli.InNoRecord,
			WithSlice: cli.SliceAllows,
			File:      cli.FileSearched, List: true,
			Help: "look up classes that the inputs refer to, and supertypes for rules, in this `LIST` of jars, .aar " +
				"files, directories and patterns ('libs/**/*.jar'), separated as for java; repeatable",
			HelpIn: map[cli.CommandSet]string{
				byAssign: "look up supertypes that no part has in this `LIST`, that of instrument; repeatable",
				byVerify: "look up classes that the checked classes refer to in this `LIST` of jars, .aar files and " +
					"directories, separated as for java; repeatable",
			}},
		{Name: "jdk", Flag: cli.Text(&c.jdk, ""), Commands: classWork | byVerify, Omit: cli.InNoRecord,
			WithSlice: cli.SliceAllows,
			File:      cli.FileSearched, Word: noJDK,
			Help: "home `DIR` of the JDK in which classes are looked up, or its file lib/modules, or none for no " +
				"JDK (default that of JAVA_HOME, or of java on PATH)"},
		{Name: "strict-classpath", Key: keys, Flag: cli.Yes(&c.strict), Commands: classWork | byVerify, Omit: cli.InScanKey,
			WithSlice: cli.SliceAllows,
			Help:      "report each class that cannot be found as a finding"},
	}
}

// noJDK is the value of --jdk by which classes are looked up in no JDK. A directory of this name is written ./none.
const noJDK = "none"

// resolve finds the files of the class path. It is called when --classpath has its value.
func (c *classPath) resolve() (err error) {
	c.files, err = cli.ExpandList("--classpath", c.lists)
	return err
}

// find returns where classes are looked up. Without --jdk, it finds the JDK that the user would run.
func (c *classPath) find(con *console.Console) pipeline.ClassPath {
	found := pipeline.ClassPath{Paths: c.files, JDK: c.jdk, Strict: c.strict}
	switch c.jdk {
	case noJDK:
		found.JDK = ""
	case "":
		found.JDK = installedJDK()
		con.Detail("JDK in which classes are looked up: %s", cmp.Or(found.JDK, noJDK))
	}
	return found
}

// installedJDK returns the home directory of the JDK, or JRE, that the user would run; "" if there is none.
func installedJDK() string {
	if home := os.Getenv("JAVA_HOME"); home != "" && launch.IsHome(home) {
		return home
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return ""
	}
	// The program on PATH is often a link into the JDK.
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return ""
	}
	if home := filepath.Dir(filepath.Dir(java)); launch.IsHome(home) {
		return home
	}
	return ""
}
