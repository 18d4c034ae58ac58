package filter

import (
	"testing"

	"github.com/tracegen/tracegen/classfile/code"
)

// TestComposeGlue has what Compose's compiler makes beside composables, the composer's own classes, and methods that
// only look like these.
func TestComposeGlue(t *testing.T) {
	const (
		flags    = "updateChangedFlags"
		scopes   = "androidx/compose/runtime/RecomposeScopeImplKt"
		again    = "(Ljava/lang/String;ILandroidx/compose/runtime/Composer;I)Lkotlin/Unit;"
		lambda   = "(Landroidx/compose/runtime/Composer;I)V"
		content  = "(Landroidx/compose/runtime/Composer;I)Lkotlin/Unit;"
		singular = "a/ComposableSingletons$FeedKt"
	)
	for _, test := range []struct {
		class, name, descriptor, calls, of string
		glue                               bool
	}{
		{"a/FeedKt", "Feed$lambda$3", again, flags, scopes, true},
		{"a/FeedKt$Feed$3", "invoke", lambda, flags, scopes, true},
		{"a/FeedKt", "Feed", lambda, flags, scopes, false},
		{"a/FeedKt", "Feed$lambda$3", again, flags, "a/Scopes", false},
		{"a/FeedKt", "Feed$lambda$3", again, "changed", scopes, false},
		{singular, "<clinit>", "()V", "x", "a/B", true},
		{singular, "getLambda-1$app", "()Lkotlin/jvm/functions/Function2;", "x", "a/B", true},
		{singular, "lambda_1$lambda$0", content, "Feed", "a/FeedKt", false},
		{singular + "$lambda-1$1", "invoke", lambda, "Feed", "a/FeedKt", false},
		{singular + "$lambda-1$1", "<clinit>", "()V", "Feed", "a/FeedKt", false},
		{"androidx/compose/runtime/ComposerImpl", "startRestartGroup", "(I)V", "x", "a/B", true},
		{"androidx/compose/runtime/SlotTable$Companion", "x", "()V", "x", "a/B", true},
		{"androidx/compose/runtime/changelist/Operations", "push", "()V", "x", "a/B", true},
		{"androidx/compose/runtime/internal/ComposableLambdaImpl", "invoke", lambda, "x", "a/B", true},
		{"androidx/compose/runtime/Recomposer", "performRecompose", "()V", "x", "a/B", false},
		{"androidx/compose/runtime/EffectsKt", "SideEffect", lambda, "x", "a/B", false},
		{"a/ComposerImpl", "x", "()V", "x", "a/B", false},
	} {
		a := &assembler{}
		i := a.Methodref(test.of, test.calls, "(I)I")
		body := []byte{byte(code.Iconst1), byte(code.Invokestatic), byte(i >> 8), byte(i), byte(code.Pop), ret}
		a.add(method{name: test.name, descriptor: test.descriptor, code: body})
		got := decideAll(t, New(Options{Trivial: None}), a.finish(t, test.class, 0, 52, 0))[0]
		if (got.Reason == ReasonCompose) != test.glue || !test.glue && !got.Traced() {
			t.Errorf("%s.%s that calls %s.%s: %q (%s)", test.class, test.name, test.of, test.calls, got.Reason, got.Detail)
		}
	}
}
