package mapping

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/userfile"
)

// Lines is a table of the places of methods in their sources, as [Mapping.WriteLines] writes it. It is immutable.
type Lines struct {
	digest string
	byID   map[uint32]SourceLine
}

// Digest returns the digest of the mapping that the table belongs to.
func (l *Lines) Digest() string { return l.digest }

// ByID returns the place of a method; ok is false if the table does not have it.
func (l *Lines) ByID(id uint32) (line SourceLine, ok bool) {
	line, ok = l.byID[id]
	return line, ok
}

// LoadLines reads the table at path. It fails with a [*FormatError] if the file is not such a table.
func LoadLines(path string) (*Lines, error) {
	text, err := userfile.ReadText(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("cannot read source lines: %w; give lines.tsv, which instrument --reports wrote for "+
			"the app", err)
	}
	return ParseLines(path, text)
}

// ParseLines reads a table that [Mapping.WriteLines] has written. name is the name of the file, for errors.
func ParseLines(name, text string) (*Lines, error) {
	l := &Lines{byID: map[uint32]SourceLine{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := l.add(n, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); err != nil {
			return nil, &FormatError{name, n, err}
		}
	}
	if n < 2 {
		return nil, &FormatError{name, 0,
			errors.New("not a table of source lines; give lines.tsv, which instrument --reports has written")}
	}
	return l, nil
}

func (l *Lines) add(n int, line string) error {
	switch {
	case n == 1:
		if line != linesHeader {
			return fmt.Errorf("want %q, as instrument --reports writes it", linesHeader)
		}
		return nil
	case n == 2:
		digest, ok := strings.CutPrefix(line, digestPrefix)
		if !ok || len(digest) != 16 || strings.Trim(digest, "0123456789abcdef") != "" {
			return fmt.Errorf("want %q and the digest of the mapping, 16 lower-case hexadecimal digits", digestPrefix)
		}
		l.digest = digest
		return nil
	case strings.HasPrefix(line, "#"):
		return nil
	}
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return errors.New("want an ID, a source file and a line, separated by tabs")
	}
	id, err1 := strconv.ParseUint(fields[0], 10, 32)
	first, err2 := strconv.ParseUint(fields[2], 10, 31)
	source, err3 := ParseText(strings.ReplaceAll(fields[1], ".", "%2E"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	l.byID[uint32(id)] = SourceLine{ID: uint32(id), Source: source, First: int(first)}
	return nil
}
