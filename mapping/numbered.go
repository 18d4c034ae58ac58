package mapping

import "strings"

// Numbered reports whether the name of a method, or of a class around it, holds
// a number that a compiler gave by counting: in the next build the same
// identity may stand for other code, and the same code have another identity.
// It goes by the names alone, so that it holds for a mapping's methods too.
//
// Numbered are a class or method name one of whose parts, from the second on
// and divided by '$', is a number or ends in one that was counted:
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
// and what D8, R8 and kotlinc name by a hash that a change elsewhere changes:
// classes with $sam$, -$$Lambda$, $$ExternalSynthetic or $$InternalSynthetic in
// their names, methods that begin with $r8$lambda$.
//
// Not numbered are numbers that say a position and are no count: Scala's
// f$default$1, Groovy's super$2$f and this$dist$invoke$2, component1. Nor are
// Foo$WhenMappings, f$default, access$getX$p, -$$Nest$mf: they are named after
// what they belong to.
func Numbered(method Identity) bool {
	return numberedClass(method.Class) || numberedMethod(method.Name)
}

// hashedClass are parts of class names that have a hash or a count behind them.
var hashedClass = [...]string{"$sam$", "-$$Lambda$", "$$ExternalSynthetic", "$$InternalSynthetic"}

func numberedClass(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
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
	case strings.HasPrefix(name, "$r8$lambda$"):
		return true
	case strings.HasPrefix(name, "super$"), strings.HasPrefix(name, "this$dist$"):
		return false
	}
	first, before := true, ""
	for part := range strings.SplitSeq(name, "$") {
		switch {
		case first:
			if stem, ok := cutCount(part); ok && (strings.HasSuffix(stem, "ambda-") || strings.HasSuffix(stem, "_aroundBody")) {
				return true
			}
		case before != "default" && counted(part):
			return true
		}
		first, before = false, part
	}
	return false
}

// countedStems are what a part of a name ends in before a number that was counted.
var countedStems = [...]string{"_closure", "_lambda", "__", "_aroundBody", "AjcClosure"}

// counted reports whether part, which is not the first of a name, is a number
// or ends in one that was counted.
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
	// Seven characters behind the '-' are Kotlin's hash of the parameters' types.
	return strings.HasSuffix(stem, "-") && len(part)-len(stem) < 7
}

// cutCount cuts the digits off the end of s, if there are any.
func cutCount(s string) (stem string, ok bool) {
	stem = strings.TrimRight(s, "0123456789")
	return stem, stem != s
}
