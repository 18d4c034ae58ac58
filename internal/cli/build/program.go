package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/userfile"
)

// Program instruments programs for record. It has the options of instrument that record has too.
type Program struct{ settings }

// NewProgram returns a Program whose commands print to con.
func NewProgram(con *console.Console) *Program {
	return &Program{settings{con: con, flat: true}}
}

// AddOptions adds the options to the flags of record.
func (p *Program) AddOptions(cmd *cobra.Command) {
	p.addOptions(cmd, byRecord)
	for name, value := range map[string]string{"exits": "exact", "target": "jvm",
		"scope": filter.ScopeOwnAndLibraries.String()} {
		f := p.rows.Find(name).Flag
		if err := f.Value.Set(value); err != nil {
			panic(err) // the value is a constant of this program
		}
		f.DefValue = value
	}
}

// Resolve combines the command line with tracegen.yml, and reads the files that the options name. Calls of methods that
// match one of the patterns are messages. Classes are looked up in this JDK; if it is "", in that which the user would
// run.
func (p *Program) Resolve(messages []string, jdk string) error {
	if err := p.resolveOptions(); err != nil {
		return err
	}
	p.forJVM, p.values["target"] = true, "jvm"
	if err := p.read(); err != nil {
		return err
	}
	for _, pattern := range messages {
		rule, err := filter.ParseMessage(pattern, filter.Position{File: "--message"})
		if err != nil {
			return cli.Misuse("%w", err)
		}
		p.rules = append(p.rules, rule)
	}
	if jdk == "" {
		jdk = installedJDK()
	}
	p.classPath.jdk = jdk
	return nil
}

// Cache returns the directory of --cache, or "", and that of cache-size.
func (p *Program) Cache() (directory string, size int64) {
	return p.caching.directory, int64(p.caching.size)
}

// Key returns everything but the program itself that decides what is written.
func (p *Program) Key() ([]string, error) {
	tool, err := executableSum(nil)
	if err != nil {
		return nil, err
	}
	base := ""
	if p.base != "" {
		data, err := userfile.Read(p.base, 1<<30)
		if err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		base = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	// Which JDK it is decides what the type check finds.
	jdk := p.classPath.jdk
	if info, err := os.Stat(filepath.Join(jdk, "lib", "modules")); err == nil {
		jdk += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
	}
	return []string{tool, p.scanKey(), p.writeKey(), base, jdk}, nil
}

// Instrument writes the outputs of the inputs and the mapping. libraries are those of the inputs that are libraries. It
// keeps results in the directory of a cache.
func (p *Program) Instrument(ctx context.Context, inputs []pipeline.Input, libraries []string, mapping, cache string,
	size int64) (*pipeline.Result, error) {
	if err := p.libraries.readFrom(libraries); err != nil {
		return nil, err
	}
	defer func() { p.libraries.classes = nil }() // they are of the program, and not of its options: see Key
	p.destination.inputs, p.mapping = inputs, mapping
	p.caching.directory, p.caching.size = cache, cli.ByteSize(size)
	var err error
	if p.known, err = p.incremental(); err != nil {
		return nil, err
	}
	advance, done := p.con.Progress("instrumenting")
	defer done()
	return p.settings.instrument(ctx, advance)
}
