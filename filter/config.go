package filter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tracegen/tracegen/internal/userfile"
)

// Config is the content of tracegen.yml and of the files that it includes.
type Config struct {
	Rules []Rule // in order; the rules of included files come before the including file's
	// Options are the values of all other keys. They are not checked.
	Options map[string]Option
	// Lists are the values of the keys that have a list instead of one value. No list is empty.
	Lists map[string][]Option
	// Included are the names of the files that were included, in the order in which they were read. A file that was
	// included twice is listed twice.
	Included []string
}

// Option is the value of a key.
type Option struct {
	Value string   // as written, without quotes
	At    Position // for errors about the value
}

// The keys that are not options.
const (
	rulesKey   = "rules"
	includeKey = "include"
)

// maxIncluded limits the number of files that one run reads. Without a limit, n files that each include the next one
// twice would be read 2^n times.
const maxIncluded = 1000

// ParseConfig reads a tracegen.yml: a YAML mapping with the key "rules" for the ordered list of rules, the key
// "include" for the names of files with further rules, which come before its own, and options as plain values or
// lists.
//
// name is the name of the file: errors use it, and names of included files are relative to it. options are the names
// of the options that the caller supports. read returns the content of an included file.
//
// The error joins all errors in the order of their lines, each with its position: unknown keys (with the nearest
// known one), repeated keys, values of the wrong kind, invalid patterns. Errors of an included file are reported at
// the line that includes it. An empty file is an empty Config.
func ParseConfig(name string, data []byte, options []string, read func(name string) ([]byte, error)) (Config, error) {
	c := Config{Options: map[string]Option{}, Lists: map[string][]Option{}}
	r := configReader{name: name, options: options, read: read, config: &c, chain: []string{name}}
	if err := r.file(data); err != nil {
		return Config{}, err
	}
	showFrom(c.Rules, name)
	return c, nil
}

// configReader walks the YAML tree of one file and collects its errors.
type configReader struct {
	name    string
	options []string
	read    func(string) ([]byte, error)
	config  *Config
	chain   []string // the file, the one that includes it, and so on; this file is the last
	errs    []lineError
}

// file reads a file and adds its rules to the configuration.
func (r *configReader) file(data []byte) error {
	root, err := r.document(data)
	if err != nil || root == nil {
		return err
	}
	var rules []Rule
	for key, value := range r.entries(root, append([]string{rulesKey, includeKey}, r.options...)) {
		switch {
		case key.Value == rulesKey:
			rules = r.rules(value)
		case key.Value == includeKey:
			r.include(value)
		case len(r.chain) > 1:
			r.errorf(key, "%s: options are not allowed in an included file; move it to %s", key.Value, r.chain[0])
		default:
			r.option(key.Value, value)
		}
	}
	r.config.Rules = append(r.config.Rules, rules...)
	return r.err()
}

// guardsKey is the key of a block of guards with their limits. Its values are read as a list of GUARD=LIMIT.
const guardsKey = "guards"

// option reads the value of an option, or a list of values.
func (r *configReader) option(key string, n *yaml.Node) {
	if key == guardsKey && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if text, ok := r.scalar(key, resolve(n.Content[i+1])); ok {
				r.config.Lists[key] = append(r.config.Lists[key], Option{n.Content[i].Value + "=" + text, r.at(n.Content[i])})
			}
		}
		return
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		if text, ok := r.scalar(key, n); ok {
			r.config.Options[key] = Option{text, r.at(n)}
		}
		return
	}
	for _, item := range n.Content {
		item = resolve(item)
		if text, ok := r.scalar(key, item); ok {
			r.config.Lists[key] = append(r.config.Lists[key], Option{text, r.at(item)})
		}
	}
}

// include reads the files that the value of include names.
func (r *configReader) include(n *yaml.Node) {
	names := []*yaml.Node{n}
	switch {
	case isNull(n):
		return
	case n.Kind == yaml.SequenceNode:
		names = n.Content
	}
	for _, item := range names {
		item = resolve(item)
		name, ok := r.scalar(includeKey, item)
		if !ok {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(r.name), filepath.FromSlash(name))
		}
		if !userfile.IsPattern(name) {
			r.includeFile(item, filepath.Clean(name))
			continue
		}
		found, err := userfile.Expand(name)
		if err != nil {
			r.errorf(item, "include: %v", err)
		}
		for _, file := range found {
			r.includeFile(item, filepath.Clean(file))
		}
	}
}

// includeFile reads the file called name, which is included at n.
func (r *configReader) includeFile(n *yaml.Node, name string) {
	if start := slices.IndexFunc(r.chain, func(open string) bool { return filepath.Clean(open) == name }); start >= 0 {
		cycle := append(slices.Clone(r.chain[start:]), name)
		r.errorf(n, "include: %s includes itself: %s", name, strings.Join(cycle, " -> "))
		return
	}
	if len(r.config.Included) == maxIncluded {
		r.errorf(n, "include: more than %d files are included", maxIncluded)
		return
	}
	r.config.Included = append(r.config.Included, name)
	data, err := r.read(name)
	if err != nil {
		r.errorf(n, "include: %w", err)
		return
	}
	inner := configReader{
		name: name, options: r.options, read: r.read, config: r.config, chain: append(slices.Clip(r.chain), name),
	}
	if err := inner.file(data); err != nil {
		r.errs = append(r.errs, lineError{n.Line, err})
	}
}

type lineError struct {
	line int
	err  error
}

func (r *configReader) at(n *yaml.Node) Position { return Position{r.name, n.Line} }

func (r *configReader) errorf(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, lineError{n.Line, fmt.Errorf("%v: %w", r.at(n), fmt.Errorf(format, args...))})
}

func (r *configReader) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b lineError) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, len(r.errs))
	for i, e := range r.errs {
		errs[i] = e.err
	}
	return errors.Join(errs...)
}

// document parses the YAML. The node is nil if the file is empty.
func (r *configReader) document(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var root, more yaml.Node
	switch err := d.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, r.syntaxError(err)
	}
	if err := d.Decode(&more); err == nil {
		return nil, fmt.Errorf("%v: a second YAML document starts here; a file must have one only", r.at(&more))
	} else if !errors.Is(err, io.EOF) {
		return nil, r.syntaxError(err)
	}
	if len(root.Content) != 1 || isNull(root.Content[0]) {
		return nil, nil
	}
	return root.Content[0], nil
}

// syntaxError converts an error of the YAML parser, "yaml: line N: MESSAGE", into position and message.
func (r *configReader) syntaxError(err error) error {
	at, message := Position{File: r.name}, strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			at.Line, message = line, rest
		}
	}
	hint := ""
	if strings.Contains(message, "anchor") || strings.Contains(message, "alphabetic or numeric") {
		hint = ` (quote a pattern that begins with *: "**.*Binding")`
	}
	return fmt.Errorf("%v: not YAML: %s%s", at, message, hint)
}

// entries yields the entries of a YAML mapping. It reports keys that are unknown or repeated and leaves them out.
// Aliases are resolved.
func (r *configReader) entries(n *yaml.Node, known []string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			r.errorf(n, "found %s, want KEY: VALUE lines (keys: %s)", kindOf(n), strings.Join(known, ", "))
			return
		}
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			first, again := seen[key.Value]
			switch {
			case key.Kind != yaml.ScalarNode:
				r.errorf(key, "%s cannot be a key (keys: %s)", kindOf(key), strings.Join(known, ", "))
			case !slices.Contains(known, key.Value):
				r.errorf(key, "%s", unknown("key", key.Value, known))
			case again:
				r.errorf(key, "%s is given twice, first on line %d", key.Value, first)
			case !yield(key, resolve(n.Content[i+1])):
				return
			}
			if !again {
				seen[key.Value] = key.Line
			}
		}
	}
}

// scalar returns the value of a YAML scalar. If n is not one, or is empty, it reports an error.
func (r *configReader) scalar(key string, n *yaml.Node) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.errorf(n, "%s: found %s, want a single value", key, kindOf(n))
	case isNull(n) || n.Value == "":
		r.errorf(n, "%s: the value is missing", key)
	default:
		return n.Value, true
	}
	return "", false
}

// rules reads the ordered list.
func (r *configReader) rules(n *yaml.Node) []Rule {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.errorf(n, "rules: found %s, want a list such as \"- block: com.example.**\"", kindOf(n))
		return nil
	}
	rules := make([]Rule, 0, len(n.Content))
	for _, item := range n.Content {
		item = resolve(item)
		// The order of rules matters, and the keys of a YAML mapping have no order: one rule, one mapping.
		if item.Kind == yaml.MappingNode && len(item.Content) > 2 {
			hint := "begin each rule with \"- \""
			if item.Style&yaml.FlowStyle != 0 {
				hint = "inside { }, quote a pattern that has a comma"
			}
			r.errorf(item, "a rule with %d keys, want one, block, allow or message: %s", len(item.Content)/2, hint)
			continue
		}
		for verb, value := range r.entries(item, []string{"block", "allow", "message"}) {
			if verb.Value == "message" {
				if rule, ok := r.messageRule(value); ok {
					rules = append(rules, rule)
				}
				continue
			}
			if value.Kind == yaml.MappingNode {
				if rule, ok := r.conditionalRule(verb, value); ok {
					rules = append(rules, rule)
				}
				continue
			}
			text, ok := r.scalar(verb.Value, value)
			if !ok {
				continue
			}
			rule, err := ParseRule(verb.Value == "allow", text, r.at(value))
			if err != nil {
				r.errs = append(r.errs, lineError{value.Line, err})
				continue
			}
			rules = append(rules, rule)
		}
	}
	return rules
}

// resolve returns the node that an alias (*name) stands for. One step is enough, and there is no endless loop,
// because YAML does not allow an anchor on an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	return fmt.Sprintf("%q", n.Value)
}

// unknown returns an error text about an unknown word. It names the nearest known word if that is near enough to be
// meant, else all known words.
func unknown(what, word string, known []string) string {
	nearest, best := "", max(2, len(word)/3)+1
	for _, k := range known {
		if d := Distance(word, k, best); d < best {
			nearest, best = k, d
		}
	}
	if nearest == "" {
		return fmt.Sprintf("unknown %s %q; known are %s", what, word, strings.Join(known, ", "))
	}
	return fmt.Sprintf("unknown %s %q; did you mean %s?", what, word, nearest)
}

// Distance returns the Levenshtein distance of a and b in characters, or limit if the distance is not less.
func Distance(a, b string, limit int) int {
	from, to := []rune(a), []rune(b)
	if d := len(from) - len(to); d >= limit || -d >= limit {
		return limit
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(to)], limit)
}
