package mapping

import "strings"

// composerType is the type of the parameter that Compose's compiler adds to each composable.
const composerType = "Landroidx/compose/runtime/Composer;"

// WithoutComposer returns the descriptor that a composable of Compose has in the source: without the composer, and
// without the numbers behind it, which say what has changed and which arguments are missing. ok is false if a method
// with the descriptor is no composable; descriptor has the internal form.
func WithoutComposer(descriptor string) (source string, ok bool) {
	before, behind, ok := strings.Cut(descriptor, composerType)
	if !ok || !strings.HasPrefix(behind, "I") {
		return descriptor, false
	}
	result := strings.TrimLeft(behind, "I")
	return before + result, strings.HasPrefix(result, ")")
}

// singletons begins the simple name of the class in which Compose's compiler keeps the composable lambdas of a file
// that capture nothing.
const singletons = "ComposableSingletons$"

// composableLambda finds the file of a lambda in such a class, whatever the compiler's version: of
//
//	ComposableSingletons$FeedKt.lambda_647798087$lambda$0    ComposableSingletons$FeedKt$lambda-1$1.invoke
func composableLambda(method Identity) (s Source, ok bool) {
	start := strings.LastIndexAny(method.Class, "/.") + 1
	file, ok := strings.CutPrefix(method.Class[start:], singletons)
	if !ok {
		return Source{}, false
	}
	file, lambda, isClass := strings.Cut(file, "$")
	if isClass != (method.Name == "invoke") {
		return Source{}, false
	}
	if !isClass {
		if lambda, _, ok = strings.Cut(method.Name, "$lambda"); !ok {
			return Source{}, false
		}
	}
	lambda = strings.TrimLeft(strings.TrimPrefix(lambda, "lambda"), "_-$")
	lambda = strings.ReplaceAll(strings.TrimSuffix(lambda, "$1"), "$", ".")
	return Source{Class: method.Class[:start] + file, Name: "<anonymous>", Part: "lambda " + lambda}, true
}
