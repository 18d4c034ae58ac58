package mapping

import "strings"

// Numbered reports whether the name of a method, or of a class around it, contains a number that a compiler counted:
// in the next build the same identity may mean other code, and the same code may have another identity. It looks at
// names alone, so that it can be computed for the methods of a mapping file, too.
//
// A class or method name is numbered if one of its parts, from the second one on and separated by '$', is a number or
// ends in a counted one:
//
//	Foo$1  Foo$1$2  Foo$1Local         anonymous and local classes, switch maps
//	lambda$f$1  lambda$0  access$100   javac, ECJ
//	lambda$f$1$com-example-Foo         the same, moved by D8
//	f$lambda$0  f$lambda-0  f$local-1  Kotlin; lambdas and local functions
//	Foo$f$1  Foo$f$$inlined$map$1      Kotlin; lambdas, coroutines, objects
//	getLambda-1$app_debug              Compose
//	$anonfun$f$1  loop$1  Foo$$anon$1  Scala
//	Foo$_f_closure1  Foo$_f_lambda2    Groovy
//	core$fn__42  user$eval7            Clojure
//	f_aroundBody0  Foo$AjcClosure1     AspectJ
//
// or if D8, R8 or kotlinc put a hash into it that changes with other code: classes with $sam$, -$$Lambda$,
// $$ExternalSynthetic or $$InternalSynthetic in their names, methods that begin with $r8$lambda$.
//
// Numbers that are positions and not counts do not make a name numbered: Scala's f$default$1, Groovy's super$2$f and
// this$dist$invoke$2, component1. Neither do names after the member that they belong to: Foo$WhenMappings, f$default,
// access$getX$p, -$$Nest$mf.
func Numbered(method Identity) bool {
	return numberedClass(method.Class) || numberedMethod(method.Name)
}

// numberedClasses is numberedClass for methods in an order in which the methods of a class usually come together.
type numberedClasses struct {
	last string
	is   bool
}

func (n *numberedClasses) has(class string) bool {
	if class != n.last {
		n.last, n.is = class, numberedClass(class)
	}
	return n.is
}

// hashedClass are parts of class names that a hash or a count follows.
var hashedClass = [...]string{"$sam$", "-$$Lambda$", "$$ExternalSynthetic", "$$InternalSynthetic"}

func numberedClass(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if strings.IndexByte(name, '$') < 0 {
		return false
	}
	for _, part := range hashedClass {
		if strings.Contains(name, part) {
			return true
		}
	}
	first := true
	for part := range strings.SplitSeq(name, "$") {
		if !first && part != "" && (part[0]-'0' <= 9 || counted(part)) {
			return true
		}
		first = false
	}
	return false
}

func numberedMethod(name string) bool {
	switch {
	case strings.IndexByte(name, '$') < 0 && (name == "" || name[len(name)-1]-'0' > 9):
		return false // as nearly all
	case strings.HasPrefix(name, "$r8$lambda$"):
		return true
	case strings.HasPrefix(name, "super$"), strings.HasPrefix(name, "this$dist$"):
		return false
	}
	first, before := true, ""
	for part := range strings.SplitSeq(name, "$") {
		switch {
		case first:
			stem, ok := cutCount(part)
			if ok && (strings.HasSuffix(stem, "ambda-") || strings.HasSuffix(stem, "_aroundBody")) {
				return true
			}
		case before != "default" && counted(part):
			return true
		}
		first, before = false, part
	}
	return false
}

// countedStems are ends of names that a counted number follows.
var countedStems = [...]string{"_closure", "_lambda", "__", "_aroundBody", "AjcClosure"}

// counted reports whether part, which is not the first of a name, is a number or ends in a counted one.
func counted(part string) bool {
	stem, ok := cutCount(part)
	if !ok {
		return false
	}
	if stem == "" || stem == "-" || stem == "eval" {
		return true
	}
	for _, s := range countedStems {
		if strings.HasSuffix(stem, s) {
			return true
		}
	}
	// Seven characters after the '-' are Kotlin's hash of the parameter types.
	return strings.HasSuffix(stem, "-") && len(part)-len(stem) < 7
}

// cutCount cuts the digits off the end of s, if there are any.
func cutCount(s string) (stem string, ok bool) {
	stem = strings.TrimRight(s, "0123456789")
	return stem, stem != s
}
