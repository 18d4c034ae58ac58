package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/mapping"
)

func newLookupCmd(con *console) *cobra.Command {
	l := lookup{con: con}
	file := ""
	cmd := &cobra.Command{
		Use:   "lookup ID|PATTERN...",
		Short: "tell which method an ID stands for, and which IDs methods have",
		Long: `lookup prints the lines of a mapping that the questions ask for, question by
question. A line of a method that is gone begins with "# retired".

A question is one of
  17                           an ID
  100-200                      all IDs from 100 to 200
  com.example.Foo              the methods of a class
  com.example.Foo#bar          those of one name; also com.example.Foo.bar
  com.example.Foo#bar(I)V      one method; without V, of any return type
  com.example.**#get*(**)      a glob: ** crosses dots, * and ? do not
  com.example.Foo bar (I)V     as in a mapping file
  /\.(foo|bar)$/               a regular expression, found anywhere in
                               "class method descriptor" as in the file
  -                            read questions from standard input, one a line

The exit code is 1 if a question found nothing; each such is named on standard
error.

IDs are searched for in the sorted file, a single other question is answered from
one pass over it: no more of it is verified than that shows. For several questions
the mapping is loaded, and its digest checked.`,
		Example: `  tracegen lookup 4711 --mapping out/methodMapping.txt
  tracegen lookup 'com.example.**#onCreate'
  cut -d, -f2 stacks.txt | tracegen lookup - --format json`,
		Args: atLeastOne("ID or pattern"),
		RunE: func(_ *cobra.Command, args []string) error {
			var err error
			if l.mapping, err = mapping.Open(file); err != nil {
				return err
			}
			defer l.mapping.Close()
			return l.run(args)
		},
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	newOptions([]option{
		{name: "mapping", flag: text(&file, defaultMapping), file: fileRead, extensions: []string{"txt"}, help: "the mapping `FILE`"},
		{name: "format", flag: textOrJSON(&l.asJSON), help: "lines as in the mapping, or one JSON object a line"},
	}).addTo(cmd, 0)
	return cmd
}

// lookup answers questions to one mapping.
type lookup struct {
	con     *console
	mapping *mapping.File
	asJSON  bool
	out     *bufio.Writer
	missing int // questions that found nothing
	asked   int
}

func (l *lookup) run(args []string) (err error) {
	l.out = bufio.NewWriter(l.con.out)
	defer func() { err = errors.Join(err, l.out.Flush()) }()
	// All are read before the first is answered: a slip in the last must not cost the output of the others.
	patterns := make([]*mapping.Pattern, len(args))
	for i, arg := range args {
		if arg == "-" {
			continue
		}
		if patterns[i], err = mapping.ParsePattern(arg); err != nil {
			return err
		}
	}
	for i, arg := range args {
		if patterns[i] != nil {
			err = l.answer(arg, patterns[i])
		} else {
			err = l.answerLines()
		}
		if err != nil {
			return err
		}
	}
	if l.missing > 0 {
		return answer{fmt.Errorf("nothing was found for %d of %d questions", l.missing, l.asked)}
	}
	return nil
}

// answerLines answers what comes from standard input.
func (l *lookup) answerLines() error {
	in := bufio.NewReader(l.con.in)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		if question := strings.TrimSpace(line); question != "" {
			pattern, err := mapping.ParsePattern(question)
			if err != nil {
				return fmt.Errorf("standard input, line %d: %w", n, err)
			}
			if err := l.answer(question, pattern); err != nil {
				return err
			}
			// Who asks one question at a time waits for its answer.
			if in.Buffered() == 0 {
				if err := l.out.Flush(); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// answer prints what is found for one question.
func (l *lookup) answer(question string, pattern *mapping.Pattern) error {
	l.asked++
	entries, err := l.mapping.Find(pattern)
	if err != nil {
		return err
	}
	found := false
	for e := range entries {
		found = true
		if err := l.print(question, e); err != nil {
			return err
		}
	}
	if !found {
		l.missing++
		l.con.log("", fmt.Sprintf("nothing found for %s", question))
	}
	return nil
}

func (l *lookup) print(question string, e mapping.Entry) error {
	if !l.asJSON {
		_, err := fmt.Fprintln(l.out, e.Line())
		return err
	}
	j := json.NewEncoder(l.out)
	j.SetEscapeHTML(false)
	return j.Encode(struct {
		Question string `json:"question"`
		*entryJSON
	}{question, newEntryJSON(e)})
}

// entryJSON is a line of a mapping.
type entryJSON struct {
	ID         uint32 `json:"id"`
	Access     uint16 `json:"access"`
	Class      string `json:"class"`
	Method     string `json:"method"`
	Descriptor string `json:"descriptor"`
	Retired    bool   `json:"retired"`
}

// newEntryJSON gives nil for the zero entry.
func newEntryJSON(e mapping.Entry) *entryJSON {
	if e.ID == 0 {
		return nil
	}
	return &entryJSON{e.ID, e.Access, mapping.Text(e.Class), mapping.Text(e.Name), mapping.Text(e.Descriptor), e.Retired}
}
