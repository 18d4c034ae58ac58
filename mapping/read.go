package mapping

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/userfile"
)

// maxSize is the size in bytes above which a file is not read: ten times the size of a full mapping with long names.
const maxSize = 1 << 30

// FormatError reports that a file is not a mapping, or is damaged.
type FormatError struct {
	File string // the name that was given to the reader
	Line int    // from 1; 0 if the error is about the whole file
	Err  error  // the reason, and what to do
}

// Error returns "file:line: reason; what to do".
func (e *FormatError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }

// Load reads the mapping file at path, which may be compressed with gzip. It fails with a [*FormatError] if the file is
// not a complete and consistent mapping, and with an error that wraps fs.ErrNotExist if there is no file.
func Load(path string) (*Mapping, error) {
	text, err := userfile.ReadText(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("cannot read mapping: %w; give the mapping file that an earlier run wrote", err)
	}
	return Parse(path, text)
}

// Parse reads the text of a mapping file. name is the name of the file, for errors; [Load] describes these. The
// mapping keeps text in memory.
func Parse(name, text string) (*Mapping, error) {
	p := &parser{file: name}
	m, err := p.parse(text)
	if err != nil {
		var format *FormatError
		if !errors.As(err, &format) {
			err = &FormatError{name, p.line, err}
		}
		return nil, err
	}
	return m, nil
}

// section contains the records of one kind and the numbers of their lines.
type section struct {
	records []record
	lines   []int32
}

// idSet is a set of IDs.
type idSet [(Capacity + 64) / 64]uint64

func (s *idSet) has(id uint32) bool { return s[id/64]>>(id%64)&1 != 0 }
func (s *idSet) add(id uint32)      { s[id/64] |= 1 << (id % 64) }

// parser contains the lines that were read so far.
type parser struct {
	file      string
	line      int  // the number of the current line
	ownFormat bool // the file is in tracegen's format, not Matrix's
	buf       []byte

	living, retired     section
	usedIDs, retiredIDs idSet // the IDs in both sections, and those in retired
	dispatch            bool  // the dispatch line was read

	// From the header, "" if not read yet.
	digest, runtime, counts string
	digestLine, countsLine  int
	focus                   []Focus
	fingerprints            map[uint32]uint64 // of numbered lines
	messages                []uint32          // of message lines
}

func (p *parser) errorAt(line int, format string, args ...any) error {
	return &FormatError{p.file, line, fmt.Errorf(format, args...)}
}

func (p *parser) parse(text string) (*Mapping, error) {
	text = strings.TrimPrefix(text, byteOrderMark)
	p.ownFormat = strings.HasPrefix(text, versionPrefix)
	// An estimate; most lines have about a hundred bytes.
	p.living.records = make([]record, 0, min(len(text)/64, Capacity))
	if err := p.parseLines(text); err != nil {
		return nil, err
	}
	if err := p.checkComplete(len(p.living.records), len(p.retired.records)); err != nil {
		return nil, err
	}
	return p.build()
}

// byteOrderMark is written by some editors at the beginning of a UTF-8 file.
const byteOrderMark = "\ufeff"

// parseLines reads complete lines.
func (p *parser) parseLines(text string) error {
	for len(text) > 0 {
		p.line++
		if p.line == math.MaxInt32 {
			return errors.New("too many lines: not a mapping")
		}
		line, rest, ended := strings.Cut(text, "\n")
		if !ended && p.ownFormat {
			return errors.New("damaged: the last line has no newline, the file was cut off; restore it from the " +
				"build that wrote it")
		}
		text = rest
		if err := p.parseLine(strings.TrimSuffix(line, "\r")); err != nil {
			return err
		}
	}
	return nil
}

// parseLine reads a line of any kind.
func (p *parser) parseLine(line string) error {
	switch {
	case !p.ownFormat:
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, digestPrefix) || strings.HasPrefix(line, retiredPrefix) {
			return fmt.Errorf("damaged: a line in tracegen's format, but the file does not begin with %q; restore "+
				"it from the build that wrote it", versionPrefix+"1")
		}
		if line == "" || line[0] == '#' {
			return nil
		}
		return p.methodLine(line)
	case line == "":
		return nil
	case line[0] == '#':
		return p.commentLine(line)
	default:
		return p.methodLine(line)
	}
}

// commentLine reads a header, focus, numbered, message or retired line, and skips other comments.
func (p *parser) commentLine(line string) error {
	once := func(field *string, prefix string) error {
		if *field != "" {
			return fmt.Errorf("a second %q line: the file contains several mappings; give a file with one",
				strings.TrimSpace(prefix))
		}
		if *field = line[len(prefix):]; *field == "" {
			return fmt.Errorf("damaged: %q without a value; restore the file from the build that wrote it",
				strings.TrimSpace(prefix))
		}
		return nil
	}
	switch {
	case strings.HasPrefix(line, versionPrefix):
		if version := line[len(versionPrefix):]; version != "1" {
			return fmt.Errorf("mapping format %q, this tracegen reads format 1; use the tracegen that wrote it, or "+
				"a newer one", version)
		}
		if p.line > 1 {
			return errors.New("a second header: the file contains several mappings; give a file with one")
		}
	case strings.HasPrefix(line, digestPrefix):
		p.digestLine = p.line
		return once(&p.digest, digestPrefix)
	case strings.HasPrefix(line, runtimePrefix):
		if err := once(&p.runtime, runtimePrefix); err != nil {
			return err
		}
		var err error
		p.runtime, err = ParseText(p.runtime)
		return err
	case strings.HasPrefix(line, countsPrefix):
		p.countsLine = p.line
		return once(&p.counts, countsPrefix)
	case strings.HasPrefix(line, focusPrefix):
		return p.focusLine(line[len(focusPrefix):])
	case strings.HasPrefix(line, numberedPrefix):
		return p.numberedLine(line[len(numberedPrefix):])
	case strings.HasPrefix(line, messagePrefix):
		return p.messageLine(line[len(messagePrefix):])
	case strings.HasPrefix(line, retiredPrefix):
		return p.add(&p.retired, line[len(retiredPrefix):])
	}
	return nil
}

// numberedLine reads "id fingerprint", the latter in 16 hexadecimal digits.
func (p *parser) numberedLine(rest string) error {
	text, digits, _ := strings.Cut(rest, " ")
	id, err1 := strconv.ParseUint(text, 10, 32)
	fingerprint, err2 := strconv.ParseUint(digits, 16, 64)
	if err1 != nil || err2 != nil || id < 1 || id > Capacity || fingerprint == 0 || len(digits) != 16 {
		return fmt.Errorf("numbered line %q: want an ID and 16 hexadecimal digits that are not all zero", clip(rest))
	}
	if p.fingerprints[uint32(id)] != 0 {
		return fmt.Errorf("a second numbered line for ID %d; restore the file from the build that wrote it", id)
	}
	if p.fingerprints == nil {
		p.fingerprints = make(map[uint32]uint64)
	}
	p.fingerprints[uint32(id)] = fingerprint
	return nil
}

// messageLine reads the ID of a method whose calls are messages.
func (p *parser) messageLine(rest string) error {
	id, err := strconv.ParseUint(rest, 10, 32)
	if err != nil || id < 1 || id > Capacity {
		return fmt.Errorf("message line %q: want an ID", clip(rest))
	}
	p.messages = append(p.messages, uint32(id))
	return nil
}

func (p *parser) focusLine(rest string) error {
	text, action, _ := strings.Cut(rest, " ")
	class, err := ParseText(text)
	if err != nil {
		return err
	}
	if a := FocusAction(action); class == "" || a != FocusAdd && a != FocusHook {
		return fmt.Errorf("focus line %q: want a class and add or hook", rest)
	}
	p.focus = append(p.focus, Focus{class, FocusAction(action)})
	return nil
}

// methodLine reads "id,access,class method descriptor" of a living method or of the dispatch.
func (p *parser) methodLine(line string) error {
	if rest, ok := strings.CutPrefix(line, dispatchPrefix); ok {
		access, text, _ := strings.Cut(rest, ",")
		key, err := p.key(text)
		if err != nil {
			return err
		}
		// Matrix writes the same line as tracegen; lists that were written by hand omit the descriptor.
		short := strings.TrimSuffix(dispatchKey, " (Landroid.os.Message;)V")
		if !(key == dispatchKey && access == "1") && (p.ownFormat || key != dispatchKey && key != short) {
			return fmt.Errorf("ID 1048574 belongs to the message dispatch, %q; no method can have it", "1,"+dispatchKey)
		}
		if p.dispatch {
			return errors.New("a second line for the message dispatch; delete one")
		}
		p.dispatch = true
		return nil
	}
	return p.add(&p.living, line)
}

// add reads "id,access,class method descriptor" and adds it to s.
func (p *parser) add(s *section, line string) error {
	r, err := p.record(line)
	if err != nil {
		return err
	}
	if p.usedIDs.has(r.id) {
		return fmt.Errorf("ID %d is on line %d already; an ID has one method: restore the file from the build that "+
			"wrote it", r.id, p.lineOf(r.id))
	}
	p.usedIDs.add(r.id)
	if s == &p.retired {
		p.retiredIDs.add(r.id)
	}
	s.records = append(s.records, r)
	s.lines = append(s.lines, int32(p.line))
	return nil
}

// record reads "id,access,class method descriptor".
func (p *parser) record(line string) (record, error) {
	id, rest, ok := cutNumber(line)
	if !ok {
		return record{}, fmt.Errorf("%q: want ID,access,class method descriptor", clip(line))
	}
	access, rest, ok := cutNumber(rest)
	if !ok {
		return record{}, fmt.Errorf("%q: want the access flags, a decimal number, after the ID", clip(line))
	}
	switch {
	case id == DispatchID+1:
		return record{}, fmt.Errorf("ID %d is never used; IDs run from 1 to %d", id, Capacity)
	case id < 1 || id > Capacity:
		return record{}, fmt.Errorf("ID %d: IDs run from 1 to %d", id, Capacity)
	case p.ownFormat && access > math.MaxUint16:
		return record{}, fmt.Errorf("access flags %d: at most 65535", access)
	}
	key, err := p.key(rest)
	return record{key: key, id: uint32(id), access: uint16(access)}, err
}

// cutNumber cuts a decimal number of at most ten digits, and the comma that must follow it, off the front of s.
func cutNumber(s string) (n uint64, rest string, ok bool) {
	i := 0
	for i < len(s) && i <= 10 && s[i]-'0' <= 9 {
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	if i == 0 || i > 10 || i == len(s) || s[i] != ',' {
		return 0, s, false
	}
	return n, s[i+1:], true
}

// clip shortens a line for an error.
func clip(line string) string {
	if len(line) > 200 {
		return line[:200] + "..."
	}
	return line
}

// lineOf returns the number of the line on which an ID was read. It searches all records and is used for errors only.
func (p *parser) lineOf(id uint32) int32 {
	for _, s := range []section{p.living, p.retired} {
		for i := range s.records {
			if s.records[i].id == id {
				return s.lines[i]
			}
		}
	}
	return 0
}

// weights are added up by [parser.key] for the bytes of a key: 0 for a byte that stands for itself, 1 for a space,
// and for any other byte more than the spaces of a key can add up to. A sum of 1 or 2 therefore means that the key is
// canonical and has two or three fields.
var weights = func() (w [256]uint32) {
	for b := range w {
		if !plain(byte(b)) {
			w[b] = 1 << 16
		}
	}
	w[' '] = 1
	return w
}()

// key returns the canonical form of "class method descriptor". If text is canonical, which nearly all keys are, it
// returns text itself.
func (p *parser) key(text string) (string, error) {
	if len(text) > math.MaxUint16 {
		return p.slowKey(text)
	}
	// Reading keys is most of the time of a load: there is no branch for a byte.
	sum := uint32(0)
	for i := range len(text) {
		sum += weights[text[i]]
	}
	if sum == 1 || sum == 2 {
		class, rest, _ := strings.Cut(text, " ")
		name, descriptor, _ := strings.Cut(rest, " ")
		if class != "" && name != "" && (sum == 1 || descriptor != "") {
			return text, nil
		}
	}
	return p.slowKey(text)
}

// slowKey is key for any text.
func (p *parser) slowKey(text string) (string, error) {
	var fields []string
	if p.ownFormat {
		fields = strings.Split(text, " ")
	} else {
		fields = matrixFields(text)
	}
	if len(fields) < 2 || len(fields) > 3 || slices.Contains(fields, "") {
		return "", fmt.Errorf("%q: want class, method and descriptor, with one space between (a space in a name is "+
			"written %%20)", clip(text))
	}
	p.buf = p.buf[:0]
	for i, field := range fields {
		if i > 0 {
			p.buf = append(p.buf, ' ')
		}
		raw, err := appendRaw(nil, field, !p.ownFormat)
		if err != nil {
			return "", fmt.Errorf("%q: %w", clip(field), err)
		}
		if len(raw) > math.MaxUint16 {
			return "", fmt.Errorf("%q: %d bytes long, a class file allows 65535", clip(field), len(raw))
		}
		p.buf = appendText(p.buf, string(raw))
	}
	return string(p.buf), nil
}

// matrixFields splits what Matrix joined with spaces, although names may contain spaces: a class that Android accepts
// contains none, and the descriptor is what follows the last " (".
func matrixFields(text string) []string {
	class, method, ok := strings.Cut(text, " ")
	if !ok {
		return nil
	}
	if i := strings.LastIndex(method, " ("); i >= 0 {
		return []string{class, method[:i], method[i+1:]}
	}
	return append([]string{class}, strings.Split(method, " ")...)
}

// checkComplete returns an error if lines are missing, as far as that can be seen without the digest. living and
// retired are the numbers of such methods.
func (p *parser) checkComplete(living, retired int) error {
	if !p.ownFormat {
		if living == 0 && !p.dispatch {
			return p.errorAt(0,
				"no method line: the file is not a mapping, or was cut off; restore it from the build that wrote it")
		}
		p.runtime = matrixRuntime
		return nil
	}
	damaged := func(line int, what string, args ...any) error {
		return p.errorAt(line, "damaged: "+what+"; restore the file from the build that wrote it", args...)
	}
	switch {
	case p.digest == "":
		return damaged(0, "no %q line", strings.TrimSpace(digestPrefix))
	case p.runtime == "":
		return damaged(0, "no %q line", strings.TrimSpace(runtimePrefix))
	case !p.dispatch:
		return damaged(0, "no line for the message dispatch, ID %d", DispatchID)
	}
	have := countsOf(living, len(p.focus), retired, len(p.fingerprints))
	if p.counts != "" && p.counts != have {
		return damaged(p.countsLine, "the header says %q, the file has %q", p.counts, have)
	}
	for _, id := range slices.Sorted(maps.Keys(p.fingerprints)) {
		if !p.usedIDs.has(id) || p.retiredIDs.has(id) {
			return damaged(0, "a numbered line for ID %d, which no living method has", id)
		}
	}
	for _, id := range p.messages {
		if !p.usedIDs.has(id) || p.retiredIDs.has(id) {
			return damaged(0, "a message line for ID %d, which no living method has", id)
		}
	}
	return nil
}

// build makes the mapping of the lines that were read. It returns an error if two lines have the same identity, if
// focus lines contradict each other, or if the digest is wrong.
func (p *parser) build() (*Mapping, error) {
	p.living.sort()
	p.retired.sort()
	living := len(p.living.records)
	m, first, second := newMapping(append(p.living.records, p.retired.records...), living)
	if m == nil {
		lines := append(p.living.lines, p.retired.lines...)
		a, b := min(lines[first], lines[second]), max(lines[first], lines[second])
		key := append(p.living.records, p.retired.records...)[first].key
		return nil, p.errorAt(int(b), "%s has an ID on line %d already; a method has one ID: restore the file from "+
			"the build that wrote it", key, a)
	}
	if p.ownFormat && m.Digest() != p.digest {
		return nil, p.errorAt(p.digestLine, "damaged: the header says digest %s, the method lines have %s; lines "+
			"were lost or changed: restore the file from the build that wrote it",
			strconv.Quote(clip(p.digest)), m.Digest())
	}
	focus, err := sortFocus(p.focus)
	if err != nil {
		return nil, p.errorAt(0, "%w", err)
	}
	m.runtime, m.focus = p.runtime, focus
	for _, id := range slices.Sorted(maps.Keys(p.fingerprints)) {
		m.fingerprints = append(m.fingerprints, fingerprint{id, p.fingerprints[id]})
	}
	slices.Sort(p.messages)
	m.messages = slices.Compact(p.messages)
	return m, nil
}

// sort sorts the records by ID. In most files they already are.
func (s *section) sort() {
	byID := func(a, b record) int { return cmp.Compare(a.id, b.id) }
	if slices.IsSortedFunc(s.records, byID) {
		return
	}
	order := make([]int, len(s.records))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return byID(s.records[i], s.records[j]) })
	sorted := section{make([]record, len(order)), make([]int32, len(order))}
	for to, from := range order {
		sorted.records[to], sorted.lines[to] = s.records[from], s.lines[from]
	}
	*s = sorted
}
