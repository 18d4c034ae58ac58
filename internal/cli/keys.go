package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/glob"
)

// keysAnnotation is the key of the annotation of a command that holds the help of its keys, see [Option.Key].
const keysAnnotation = "keys"

// keysOf returns the keys that the command takes.
func (t Options) keysOf(as CommandSet) Options {
	return slices.DeleteFunc(slices.Clone(t), func(o Option) bool { return !o.Key || !o.TakenBy(as) })
}

// optionalValue matches how pflag writes a flag with a value that may be left out, and what stands for it then.
var optionalValue = glob.Regexp(`^(\s+\S+) (\S+)\[="[^"]*"\]`)

// usage returns the help of keys, in the form of the help of flags.
func (t Options) usage() string {
	set := newFlags()
	for i := range t {
		set.AddFlag(t[i].Flag)
	}
	var text strings.Builder
	const indent = "      "
	for line := range strings.Lines(set.FlagUsagesWrapped(helpColumns + len(indent))) {
		line = strings.Replace(line, indent+"--", indent+"  ", 1)
		// The value of a key stands behind =, also one that may be left out.
		if m := optionalValue().FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("%-*s%s", len(m[0]), m[1]+"[="+m[2]+"]", line[len(m[0]):])
		}
		text.WriteString(strings.TrimPrefix(line, indent))
	}
	return text.String()
}

// SetOption returns the option --set. The caller sets the table, of which the option may be a row.
func SetOption(setter *KeySetter, commands CommandSet) Option {
	return Option{Name: "set", Flag: Custom(setter), Commands: commands, Config: OffLimits, Omit: InNoRecord,
		WithSlice: SliceAllows,
		Help:      "set one of the keys of tracegen.yml below to a value; repeatable"}
}

// KeySetter is a flag that sets keys of a table.
type KeySetter struct {
	// Table has the keys.
	Table Options
	// As is the command.
	As CommandSet
}

// Set implements pflag.Value.
func (k *KeySetter) Set(text string) error {
	name, value, hasValue := strings.Cut(text, "=")
	keys := k.Table.keysOf(k.As)
	o := keys.Find(name)
	switch {
	case o == nil && k.Table.Find(name) != nil && k.Table.Find(name).TakenBy(k.As):
		return fmt.Errorf("%s is a flag: --%s", name, name)
	case o == nil:
		return fmt.Errorf("must be KEY=VALUE with one of the keys %s",
			strings.Join(keys.Names(func(*Option) bool { return true }), ", "))
	case !hasValue && o.Flag.NoOptDefVal == "":
		return errors.New("must be KEY=VALUE")
	case !hasValue:
		value = o.Flag.NoOptDefVal
	}
	if err := o.Flag.Value.Set(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	o.Flag.Changed = true
	return nil
}

// Repeatable marks the flag as one that may be given several times.
func (k *KeySetter) Repeatable() {}

// String implements pflag.Value.
func (k *KeySetter) String() string { return "" }

// Type implements pflag.Value.
func (k *KeySetter) Type() string { return "KEY=VALUE" }

var _ pflag.Value = (*KeySetter)(nil)
