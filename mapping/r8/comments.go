package r8

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// version is a map version, as 10*major + minor; 0 is none, or one that is unknown.
type version int

// versions are the versions that exist.
var versions = map[string]version{"none": 0, "experimental": 0, "1.0": 10, "2.0": 20, "2.1": 21, "2.2": 22}

// comment contains the fields of all comments with JSON. The ID determines which of them are used.
type comment struct {
	ID         string                     `json:"id"`
	Version    string                     `json:"version"`
	FileName   string                     `json:"fileName"`
	FileNames  map[string]string          `json:"fileNameMappings"`
	Signature  string                     `json:"signature"`
	Conditions []string                   `json:"conditions"`
	Actions    []string                   `json:"actions"`
	Positions  map[string]json.RawMessage `json:"positions"`
}

// commentKinds has the version that introduced each ID, and the function that applies such a comment. The parser's
// current line or class may be nil then.
var commentKinds = map[string]struct {
	since version
	apply func(*parser, *comment)
}{
	"com.android.tools.r8.mapping":           {0, (*parser).mapVersion},
	"sourceFile":                             {0, (*parser).sourceFile},
	"partitionSourceFiles":                   {0, (*parser).sourceFiles},
	"com.android.tools.r8.synthesized":       {10, (*parser).synthesized},
	"com.android.tools.r8.rewriteFrame":      {20, (*parser).rewriteFrame},
	"com.android.tools.r8.outline":           {20, (*parser).outline},
	"com.android.tools.r8.outlineCallsite":   {20, (*parser).outlineCallsite},
	"com.android.tools.r8.residualsignature": {22, (*parser).residualSignature},
}

// comment reads a line that begins with '#'. It skips what it does not understand.
func (p *parser) comment(t string) {
	body := strings.TrimLeft(t[1:], " \t")
	if body == "" || body[0] != '{' {
		return
	}
	var c comment
	if json.Unmarshal([]byte(body), &c) != nil {
		return
	}
	if kind, ok := commentKinds[c.ID]; ok && p.version >= kind.since {
		kind.apply(p, &c)
	}
}

// mapVersion begins a part of the file with a version. The file may be a concatenation of several, so that the
// current class ends here.
func (p *parser) mapVersion(c *comment) {
	v, ok := versions[c.Version]
	if !ok {
		p.unknown = c.Version
	}
	p.finish()
	p.version = v
}

func (p *parser) sourceFile(c *comment) {
	if p.current != nil && p.line == nil && !p.onField && c.FileName != "" {
		p.sources[p.current.original] = c.FileName
	}
}

func (p *parser) sourceFiles(c *comment) {
	for class, file := range c.FileNames {
		p.sources[class] = file
	}
}

// info returns the info of the current line, and makes it if there is none; nil if there is no current line.
func (p *parser) info() *info {
	if p.line == nil {
		return nil
	}
	if p.line.info == nil {
		p.line.info = &info{}
	}
	return p.line.info
}

func (p *parser) synthesized(*comment) {
	if i := p.info(); i != nil {
		i.synthesized = true
	}
}

func (p *parser) outline(*comment) {
	if i := p.info(); i != nil {
		i.outline = true
	}
}

// methodDescriptor is a descriptor of a method (JVMS 4.3.3), with dots.
var methodDescriptor = glob.Regexp(`^\((\[*([BCDFIJSZ]|L[^;]+;))*\)(V|\[*([BCDFIJSZ]|L[^;]+;))$`)

func (p *parser) residualSignature(c *comment) {
	if i := p.info(); i != nil {
		signature := fileName(c.Signature)
		if methodDescriptor().MatchString(signature) {
			i.residual = signature
		}
	}
}

func (p *parser) outlineCallsite(c *comment) {
	i := p.info()
	if i == nil || i.callsite != nil {
		return
	}
	i.callsite = make(map[int32]int32, len(c.Positions))
	for key, value := range c.Positions {
		from, err1 := strconv.ParseInt(key, 10, 32)
		to, err2 := strconv.ParseInt(strings.Trim(string(value), `"`), 10, 32)
		if err1 == nil && err2 == nil {
			i.callsite[int32(from)] = int32(to)
		}
	}
}

// rewriteFrame reads conditions "throws(La/b;)" and actions "removeInnerFrames(1)". A comment with any other
// condition or action is ignored.
func (p *parser) rewriteFrame(c *comment) {
	i := p.info()
	if i == nil {
		return
	}
	var r rewrite
	for _, condition := range c.Conditions {
		name, argument := splitCall(condition)
		if name != "throws" || !strings.HasPrefix(argument, "L") || !strings.HasSuffix(argument, ";") {
			return
		}
		r.thrown = append(r.thrown, fileName(argument[1:len(argument)-1]))
	}
	for _, action := range c.Actions {
		name, argument := splitCall(action)
		n, err := strconv.ParseUint(argument, 10, 16)
		if name != "removeInnerFrames" || err != nil {
			return
		}
		r.remove += int(n)
	}
	i.rewrites = append(i.rewrites, r)
}

// splitCall splits "name(argument)".
func splitCall(s string) (name, argument string) {
	name, argument, _ = strings.Cut(s, "(")
	return name, strings.TrimSuffix(argument, ")")
}
