package frametext

import "strings"

// Object is a frame that is an object in JSON, as Jackson, Logback, Log4j, Sentry, Bugsnag and Crashlytics write them.
// The spans are of the values, without quotes; those of what the object does not have are empty.
type Object struct {
	// From and To are where it is in the text, with its braces.
	From, To int
	// Frame has the names and the line. Its Source is the name of the file, and End has no meaning.
	Frame
	// LineAt is where the number of the line is.
	LineAt Span
	// OuterFirst is set if such frames stand in the order in which they were called.
	OuterFirst bool
}

var (
	flatObject = pattern(`\{[^{}]*\}`)
	member     = pattern(`"(\w+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?\d+)|\w+)`)
)

// Objects returns the frames in a text that are objects.
func Objects(text string) []Object {
	var all []Object
	if !strings.Contains(text, `"`) || !strings.Contains(text, "{") {
		return nil
	}
	for _, at := range flatObject().FindAllStringIndex(text, -1) {
		if o, ok := objectAt(text, at[0], at[1]); ok {
			all = append(all, o)
		}
	}
	return all
}

// objectAt reads an object. It is a frame if it has a class and a method, and a file or a line.
func objectAt(text string, from, to int) (Object, bool) {
	o := Object{From: from, To: to, Frame: Frame{Text: text}}
	placed := false
	for _, m := range member().FindAllStringSubmatchIndex(text[from:to], -1) {
		value := Span{}
		if m[4] >= 0 {
			value = Span{from + m[4], from + m[5]}
		}
		switch key := strings.ToLower(strings.ReplaceAll(text[from+m[2]:from+m[3]], "_", "")); key {
		case "classname", "class", "module", "declaringclass":
			if value.To > value.From {
				o.ClassAt = value
			}
		case "methodname", "method", "function", "symbol":
			o.MethodAt, o.OuterFirst = value, key == "function"
		case "filename", "file", "sourcefile":
			o.Source, placed = value, true
		case "linenumber", "lineno", "line":
			placed = true
			if m[6] >= 0 {
				o.LineAt = Span{from + m[6], from + m[7]}
			}
		}
	}
	if dot := strings.LastIndexByte(o.Method(), '.'); dot > 0 && o.Class() == "" {
		// Bugsnag and Crashlytics have both in one.
		o.ClassAt = Span{o.MethodAt.From, o.MethodAt.From + dot}
		o.MethodAt.From += dot + 1
	}
	if line := text[o.LineAt.From:o.LineAt.To]; line != "" && len(line) < 10 && line[0] != '-' {
		for _, digit := range line {
			o.Line = o.Line*10 + digit - '0'
		}
	}
	o.Numbered = o.Line > 0
	return o, placed && isName(o.Class()) && isName(o.Method())
}

// isName reports whether a text may be the name of a class or method.
func isName(text string) bool {
	rest := strings.TrimSuffix(strings.TrimSuffix(text, "<init>"), "<clinit>")
	return text != "" && SkipName(rest, 0) == len(rest) && !IsDigit(text[0])
}

// String returns the frame as Java prints it.
func (o *Object) String() string {
	source := o.Text[o.Source.From:o.Source.To]
	switch {
	case source == "" && o.Text[o.LineAt.From:o.LineAt.To] == "-2":
		source = "Native Method"
	case source == "":
		source = "Unknown Source"
	}
	if o.Numbered {
		source += ":" + o.Text[o.LineAt.From:o.LineAt.To]
	}
	return o.Class() + "." + o.Method() + "(" + source + ")"
}
