package mapping

import "strings"

// Source says which function of the source a compiled method belongs to, as far as the compilers' names show it. Names
// are in internal or in text form, as those of the [Identity] that it was made of.
type Source struct {
	// Class and Name are those of the function.
	Class, Name string
	// Part is what the compiler has made of the function: "lambda 1" is the first lambda in it, "lambda 1.2" one in
	// that, "1" an object expression, "default" what sets default arguments, "access" an accessor, a name a local
	// function. It is empty if it is the function itself under another name.
	Part string
	// Method is the method of an object expression, empty for other parts.
	Method string
}

// String returns "Class.Name", then the part in braces and the method: "a/Feed.load{lambda 1}".
func (s Source) String() string {
	text := s.Class + "." + s.Name
	if s.Part != "" {
		text += "{" + s.Part + "}"
	}
	if s.Method != "" {
		text += "." + s.Method
	}
	return text
}

// SourceOf finds the function that a method with a compiler's name belongs to; ok is false if the name is that of the
// source already, or does not show it:
//
//	Feed$load$1.invoke                              a/Feed.load{lambda 1}: kotlinc
//	Feed$load$1.invokeSuspend                       a/Feed.load{coroutine 1}: a lambda that may be suspended
//	Feed$load$2$1.invoke                            a/Feed.load{lambda 2.1}: a lambda in a lambda
//	Feed$load$$inlined$map$1.emit                   a/Feed.load{lambda inlined.map.1}: of an inline function
//	Feed.load$lambda$1  Feed.load$lambda-1          a/Feed.load{lambda 1}
//	Feed.lambda$load$1  Feed.lambda$new$0           a/Feed.load{lambda 1}, a/Feed.<init>{lambda 0}: javac
//	Feed$load$1.run                                 a/Feed.load{1}.run: an object expression
//	Feed.load$default                               a/Feed.load{default}
//	Feed.load$save  Feed.load$app_debug             a/Feed.load{save}: a local function; an internal one's module
//	Feed.access$load  Feed.access$getX$p            a/Feed.load{access}, a/Feed.getX{access}
//	Feed.load-a1B2c3D  Feed.load-impl               a/Feed.load: parameters of value classes
//	Feed$DefaultImpls.load                          a/Feed.load: of an interface
//	ComposableSingletons$FeedKt$lambda-1$1.invoke   a/FeedKt.<anonymous>{lambda 1}: of Compose
//
// Where a name has two readings, the one is taken that kotlinc and javac make by far more often. A lambda in an
// initialiser has the name of the property or of the class, since it is in no function.
func SourceOf(method Identity) (s Source, ok bool) {
	if strings.IndexByte(method.Class, '$') < 0 && !strings.ContainsAny(method.Name, "$-") {
		return Source{}, false
	}
	if s, ok := composableLambda(method); ok {
		return s, true
	}
	name, part := sourceMethod(method.Name)
	s = Source{Class: strings.TrimSuffix(method.Class, "$DefaultImpls"), Name: name, Part: part}
	if owner, function, within := sourceClass(s.Class); within != "" {
		kind := lambdaMethods[name]
		if kind == "" && isClassName(function) {
			return s, s.differs(method) // an anonymous class in a nested one, as javac names it
		}
		s.Class, s.Name = owner, function
		switch {
		case kind == "":
			s.Part, s.Method = within, method.Name
		case part == "":
			s.Part = kind + " " + within
		default:
			s.Part = kind + " " + within + ", " + part
		}
	}
	return s, s.differs(method)
}

func (s Source) differs(method Identity) bool {
	return s.Class != method.Class || s.Name != method.Name
}

// lambdaMethods are the methods in which the classes of lambdas have their code, and what these are called.
var lambdaMethods = map[string]string{"invoke": "lambda", "emit": "lambda", "invokeSuspend": "coroutine"}

// sourceClass takes the name of a class in a function apart. The function is the first part that does not begin like
// the name of a class, else the last one before the first number, or before the empty part that kotlinc writes in front
// of what it has inlined. within is empty if the class is in no function.
func sourceClass(class string) (owner, function, within string) {
	start := strings.LastIndexAny(class, "/.") + 1
	candidate := start // where the part of the function begins
	for at := start; at < len(class); {
		end := at + strings.IndexByte(class[at:]+"$", '$')
		part, first := class[at:end], candidate
		switch inlined := part == "" && strings.HasPrefix(class[end:], "$inlined$"); {
		case inlined || isNumber(part):
			if candidate == start {
				return "", "", "" // Foo$1: an anonymous class of a class
			}
			stop := first + strings.IndexByte(class[first:], '$')
			function, _ = sourceMethod(class[first:stop])
			return class[:first-1], function, strings.ReplaceAll(strings.Trim(class[stop:], "$"), "$", ".")
		case at > start && part == "":
			return "", "", "" // Foo$$anon$1: Scala
		case at > start && (candidate == start || isClassName(class[candidate:])):
			candidate = at
		}
		at = end + 1
	}
	return "", "", ""
}

func isClassName(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// sourceMethod takes the name of a method apart.
func sourceMethod(name string) (function, part string) {
	if rest, ok := strings.CutPrefix(name, "access$"); ok && !isNumber(rest) {
		function, _ = sourceMethod(strings.TrimSuffix(strings.TrimSuffix(rest, "$p"), "$cp"))
		return function, "access"
	}
	if rest, ok := strings.CutPrefix(name, "lambda$"); ok {
		function, number, ok := strings.Cut(rest, "$")
		if number, _, _ = strings.Cut(number, "$"); !ok || function == "" || !isNumber(number) {
			return name, ""
		}
		if special, ok := javacFunctions[function]; ok {
			function = special
		}
		return function, "lambda " + number
	}
	if i := strings.Index(name, "$lambda"); i > 0 && i+len("$lambda") < len(name) {
		if numbers := strings.ReplaceAll(name[i:], "$lambda", ""); strings.Trim(numbers, "$-0123456789") == "" {
			part = "lambda " + strings.Map(dotted, strings.TrimLeft(numbers, "$-"))
			name = name[:i]
		}
	}
	if before, behind, ok := strings.Cut(name, "$"); ok && before != "" && !otherPrefixes[before] && isPlain(behind) {
		name = before
		if part == "" {
			part = behind
		}
	}
	return withoutHash(name), part
}

var javacFunctions = map[string]string{"new": "<init>", "static": "<clinit>"}

// otherPrefixes are what other compilers write before a '$', of Groovy and AspectJ.
var otherPrefixes = map[string]bool{"access": true, "lambda": true, "super": true, "this": true, "ajc": true}

// isPlain reports whether s may be a name of the source, which kotlinc may have numbered: save, save$1. default$1 is of
// Scala.
func isPlain(s string) bool {
	name, number, numbered := strings.Cut(s, "$")
	return name != "" && !isNumber(name[:1]) && (!numbered || isNumber(number) && name != "default")
}

func dotted(r rune) rune {
	if r == '$' || r == '-' {
		return '.'
	}
	return r
}

// withoutHash cuts off what kotlinc adds to the names of functions with parameters of value classes: -impl, or seven
// characters of a hash.
func withoutHash(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || name[i+1:] != "impl" && len(name)-i-1 != 7 {
		return name
	}
	return name[:i]
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
